import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_LLAMA } from "../support/checkpoints";
import { eventually } from "../support/eventually";
import { freePort } from "../support/free-port";
import { askForToken, hubHost, sentOut, type HubHost } from "../support/hub-host";
import { PulumiProject, type PulumiResult } from "../support/pulumi-cli";

/** Two stacks on one host, one checkpoint: it is downloaded once, and goes with the last of them, whichever that is. */

const COMMIT = "a".repeat(40);
const OTHER = "b".repeat(40);
const SHARD_BYTES = 3_000_000;
const SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;
const FILES = {
  "config.json": { json: TINY_LLAMA },
  "model.safetensors.index.json": {
    json: { metadata: {}, weight_map: { a: SHARDS[0], b: SHARDS[1] } },
  },
  ...Object.fromEntries(SHARDS.map((name) => [name, { safetensors: SHARD_BYTES }])),
};
const ONCE = Object.fromEntries(Object.keys(FILES).map((name) => [name, 1]));

type Inputs = Readonly<Record<string, unknown>>;

let bed: HubHost;
let lab: PulumiProject;

beforeAll(async () => {
  bed = await hubHost({
    repositories: {
      "org/tiny": {
        revisions: [
          { sha: COMMIT, refs: ["main"], files: FILES },
          // One shard of another size; the rest is the same, byte by byte.
          { sha: OTHER, refs: [], files: { ...FILES, [SHARDS[1]]: { safetensors: SHARD_BYTES + 800 } } },
        ],
      },
    },
  });
  lab = await PulumiProject.create({ program: "", name: "lab" });
});

afterAll(async () => {
  await lab.destroy();
  await lab.remove();
  await bed.close();
});

async function server(changes: Inputs = {}): Promise<Inputs> {
  return {
    model: { repo: "org/tiny", revision: COMMIT, endpoint: bed.hub.url },
    vllm: { executable: bed.executable },
    listen: { port: await freePort("127.0.0.1") },
    engine: { servedModelName: ["tiny"] },
    environment: { STAND_IN_START_SECONDS: "0.5" },
    onDelete: { model: "purge" },
    ...changes,
  };
}

const declare = async (project: PulumiProject, inputs: Inputs): Promise<void> =>
  project.setProgram(bed.programOf({ tiny: inputs }));
const outputsOf = async (project: PulumiProject): Promise<Inputs> =>
  (await project.servers())[0]?.outputs ?? {};
const idOf = async (project: PulumiProject): Promise<string> => (await project.servers())[0]?.id ?? "";
const demandDone = ({ code, stdout, stderr }: PulumiResult): string => {
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return stdout;
};
/** Of all blobs that the host keeps of the repository. */
const storedBytes = (): number => {
  const blobs = join(bed.repository("org/tiny"), "blobs");
  return existsSync(blobs)
    ? readdirSync(blobs).reduce((sum, name) => sum + statSync(join(blobs, name)).size, 0)
    : 0;
};
/** Servers that wait for a job. */
const waiting = (): readonly string[] =>
  bed.serverFolders().filter((name) => {
    const jobs = bed.state(`${name}/jobs.json`);
    return existsSync(jobs) && readFileSync(jobs, "utf8").includes("fetch-");
  });

async function demandServing(project: PulumiProject, pid: unknown): Promise<void> {
  const { listen } = await outputsOf(project);
  expect((await outputsOf(project))["pid"]).toBe(pid);
  expect(bed.processes().map((process) => process.pid)).toContain(pid);
  const { port } = Object(listen);
  expect(await askForToken(port)).toBe(200);
}

describe.each([
  { order: "the first one goes first", firstGoes: 0 },
  { order: "the second one goes first", firstGoes: 1 },
])("two servers of two stacks that want one checkpoint, $order", ({ firstGoes }) => {
  it("download it once, though both come at the same time", async () => {
    await bed.hub.clearCounts();
    await bed.hub.setFaults([{ kind: "stall", file: SHARDS[1], afterBytes: 1000 }]);
    // One through an overlay, one from the cache itself.
    await declare(bed.project, await server({ configOverrides: { max_position_embeddings: 128 } }));
    await declare(lab, await server());
    const ups = [bed.project.up(), lab.up()];
    await eventually("both wait for the download", () => (waiting().length === 2 ? true : null));
    await bed.hub.setFaults([]);
    for (const up of await Promise.all(ups)) expect(demandDone(up)).toContain("downloaded 6.0 MB");
    expect(await sentOut(bed.hub, "org/tiny")).toEqual(ONCE);
    expect((await bed.hub.state()).bytes).toBe(storedBytes());
    expect(bed.clientCalls().at(-1)?.argv.slice(0, 3)).toEqual(["download", "--revision", COMMIT]);
  });

  it("keep it, and each other's server running, until the last one goes, which says what came back", async () => {
    const projects = [bed.project, lab];
    const [goes = lab, stays = lab] = firstGoes === 0 ? projects : projects.reverse();
    const { pid } = await outputsOf(stays);
    const bytes = storedBytes();
    expect(bytes).toBeGreaterThan(2 * SHARD_BYTES);
    const kept = demandDone(await goes.destroy());
    const project = stays === lab ? "lab" : "test";
    expect(kept).toContain(
      `purged nothing; kept 4 files of org/tiny@aaaaaaaaaaaa: used by server ${await idOf(stays)} of ${project}/dev`,
    );
    expect(storedBytes()).toBe(bytes);
    await demandServing(stays, pid);
    expect(demandDone(await stays.destroy())).toMatch(/purged 6\.0 MB\n/);
    expect(existsSync(bed.repository("org/tiny"))).toBe(false);
    expect(bed.processes()).toEqual([]);
  });
});

describe.each([
  { goes: "the older", revisions: [COMMIT, OTHER] },
  { goes: "the newer", revisions: [OTHER, COMMIT] },
] as const)("two revisions that have files in common, $goes goes first", ({ revisions }) => {
  it("the second one brings only what is not there yet", async () => {
    await bed.hub.clearCounts();
    const at = (revision: string): Inputs => ({ repo: "org/tiny", revision, endpoint: bed.hub.url });
    await declare(bed.project, await server({ model: at(revisions[0]) }));
    demandDone(await bed.project.up());
    expect(await sentOut(bed.hub, "org/tiny")).toEqual(ONCE);
    await declare(lab, await server({ model: at(revisions[1]) }));
    expect(demandDone(await lab.up())).toMatch(
      /downloaded 3\.0 MB in \d+ s \(4 files, 6\.0 MB, 3\.0 MB were there\)/,
    );
    expect(await sentOut(bed.hub, "org/tiny")).toEqual({ ...ONCE, [SHARDS[1]]: 2 });
  });

  it("a purge leaves what the other one has too, and its server running", async () => {
    const { pid } = await outputsOf(lab);
    const [goes, stays] = revisions.map((revision) => revision.slice(0, 12));
    expect(demandDone(await bed.project.destroy())).toContain(
      `purged 3.0 MB; kept 3 files of org/tiny@${String(goes)}: also in revision ${String(stays)}`,
    );
    const folder = bed.snapshot("org/tiny", revisions[1]);
    const sizes = SHARDS.map((name) => statSync(join(folder, name)).size).sort();
    expect(sizes).toEqual([SHARD_BYTES, revisions[1] === OTHER ? SHARD_BYTES + 800 : SHARD_BYTES]);
    await demandServing(lab, pid);
    expect(demandDone(await lab.destroy())).toMatch(/purged 6\.0 MB\n/);
    expect(existsSync(bed.repository("org/tiny"))).toBe(false);
  });
});

it("two servers of one stack that are destroyed at the same time leave nothing of it to each other", async () => {
  await bed.declare({
    one: await server({ configOverrides: { max_position_embeddings: 128 } }),
    two: await server({ configOverrides: { max_position_embeddings: 128 } }),
  });
  demandDone(await bed.project.up());
  expect(demandDone(await bed.project.destroy())).toMatch(/purged 6\.0 MB\n/);
  expect(existsSync(bed.repository("org/tiny"))).toBe(false);
  expect([bed.processes(), bed.serverFolders()]).toEqual([[], []]);
  for (const folder of ["checkpoints", "overlays"])
    expect(readdirSync(bed.state(folder)).filter((name) => !name.startsWith(".lock"))).toEqual([]);
});
