import { lstatSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port";
import { hubHost, sentOut, type HubHost } from "../support/hub-host";
import { PulumiProject, type PulumiResult } from "../support/pulumi-cli";
import { addReadingVllm, CUSTOM_FILES, hashesIn, readByVllm } from "../support/reading-vllm";

/** A checkpoint with code, tokenizer, chat template and adapter of its own, through an overlay: it is all there, and stays whole. */

const COMMIT = "a".repeat(40);
const ADAPTER = "adapters/sql/adapter_model.safetensors";
const FILES = {
  ...CUSTOM_FILES,
  "model.safetensors": { safetensors: 100_000 },
  [ADAPTER]: { safetensors: 5000 },
};

type Inputs = Readonly<Record<string, unknown>>;

let bed: HubHost;
let lab: PulumiProject;
let server: Inputs;
const maxLength = (length: number): Inputs => ({ configOverrides: { max_position_embeddings: length } });

beforeAll(async () => {
  bed = await hubHost({
    repositories: { "org/tiny": { revisions: [{ sha: COMMIT, refs: ["main"], files: FILES }] } },
  });
  lab = await PulumiProject.create({ program: "", name: "lab" });
  const programs = dirname(bed.executable);
  server = {
    model: { repo: "org/tiny", revision: COMMIT, endpoint: bed.hub.url },
    vllm: { executable: join(programs, addReadingVllm(programs)) },
    engine: { servedModelName: ["tiny"], trustRemoteCode: true },
    environment: { STAND_IN_START_SECONDS: "0.5", READ_INTO: join(bed.folder, "read.json") },
  };
});

afterAll(async () => {
  await lab.destroy();
  await lab.remove();
  await bed.close();
});

async function up(project: PulumiProject, changes: Inputs, port: number): Promise<PulumiResult> {
  await project.setProgram(bed.programOf({ tiny: { ...server, ...changes, listen: { port } } }));
  const done = await project.up();
  expect({ code: done.code, stderr: done.stderr }, done.stdout).toEqual({ code: 0, stderr: "" });
  return done;
}

const outputsOf = async (project: PulumiProject): Promise<Inputs> =>
  (await project.servers())[0]?.outputs ?? {};
const overlayOf = async (project: PulumiProject): Promise<string> =>
  String((await outputsOf(project))["modelPath"]);
/** Overlays that the host keeps, by their names. */
const overlays = (): readonly string[] =>
  readdirSync(bed.state("overlays")).filter((name) => !name.startsWith(".") && !name.endsWith(".json"));
const records = (): readonly string[] =>
  readdirSync(bed.state("overlays")).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : []));

let ports: readonly [number, number];

describe("a checkpoint with code of its own, served through an overlay", () => {
  it("is read by vLLM byte for byte but for its config, and finds its modules beside each other", async () => {
    ports = [await freePort("127.0.0.1"), await freePort("127.0.0.1")];
    await up(bed.project, maxLength(128), ports[0]);
    const snapshot = hashesIn(bed.snapshot("org/tiny", COMMIT));
    expect(Object.keys(snapshot).sort()).toEqual(Object.keys(FILES).sort());
    const read = readByVllm(join(bed.folder, "read.json"));
    expect(read.says).toBe("it was found beside it");
    const { "config.json": patched, ...others } = read.files;
    expect({ ...others, "config.json": snapshot["config.json"] }).toEqual(snapshot);
    expect(patched).not.toBe(snapshot["config.json"]);
  });

  it("is linked entry by entry to the revision, folders as a whole, and only the config is a file", async () => {
    const overlay = await overlayOf(bed.project);
    const snapshot = bed.snapshot("org/tiny", COMMIT);
    const top = [...new Set(Object.keys(FILES).map((path) => path.split("/")[0] ?? ""))].sort();
    const links = top.map((name) => {
      const path = join(overlay, name);
      return [name, lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null];
    });
    expect(readdirSync(overlay).sort()).toEqual(top);
    expect(links).toEqual(top.map((name) => [name, name === "config.json" ? null : join(snapshot, name)]));
    // The links of the cache itself are relative: they lead on from where they stand.
    expect(readlinkSync(join(snapshot, ADAPTER))).toMatch(/^(\.\.\/)+blobs\/[0-9a-f]{64}$/);
  });
});

describe("a link of it that leads nowhere", () => {
  const repaired = async (file: string): Promise<void> => {
    const { pid } = await outputsOf(bed.project);
    const refreshed = await bed.project.refresh();
    expect(refreshed.stdout).toMatch(/modelPath: .*/);
    expect((await outputsOf(bed.project))["drift"]).toEqual([expect.stringContaining("modelPath")]);
    await bed.hub.clearCounts();
    await up(bed.project, maxLength(128), ports[0]);
    expect(await sentOut(bed.hub, "org/tiny")).toEqual({ [file]: 1 });
    expect(await outputsOf(bed.project)).toMatchObject({ pid, drift: [], status: "ready" });
  };

  it.each(["tokenizer.json", ADAPTER])(
    "is drift, and the file is fetched without a restart: %s",
    async (file) => {
      const pointer = join(bed.snapshot("org/tiny", COMMIT), file);
      const blob = realpathSync(pointer);
      rmSync(blob);
      await repaired(file);
      expect(realpathSync(join(await overlayOf(bed.project), file))).toBe(blob);
    },
  );

  it("is drift also where the overlay's own link is gone, and is put back", async () => {
    const { pid } = await outputsOf(bed.project);
    const link = join(await overlayOf(bed.project), "modeling_tiny.py");
    rmSync(link);
    expect((await bed.project.refresh()).stdout).toContain("modeling_tiny.py");
    await up(bed.project, maxLength(128), ports[0]);
    expect(readlinkSync(link)).toBe(join(bed.snapshot("org/tiny", COMMIT), "modeling_tiny.py"));
    expect(await outputsOf(bed.project)).toMatchObject({ pid, drift: [] });
  });
});

describe("overlays", () => {
  it("are shared by servers of two stacks, and the old one stays as long as one of them runs from it", async () => {
    const shared = basename(await overlayOf(bed.project));
    await up(lab, maxLength(128), ports[1]);
    expect([basename(await overlayOf(lab)), overlays(), records()]).toEqual([shared, [shared], [shared]]);
    await up(bed.project, maxLength(64), ports[0]);
    const own = basename(await overlayOf(bed.project));
    expect([overlays(), records()].map((names) => [...names].sort())).toEqual(
      Array(2).fill([shared, own].sort()),
    );
    await up(lab, {}, ports[1]);
    expect([await overlayOf(lab), overlays(), records()]).toEqual([
      bed.snapshot("org/tiny", COMMIT),
      [own],
      [own],
    ]);
  });

  it("go with the last server that has them, and the weights stay", async () => {
    expect((await bed.project.destroy()).code).toBe(0);
    expect([overlays(), records()]).toEqual([[], []]);
    expect(await outputsOf(lab)).toMatchObject({ status: "ready" });
    expect((await lab.destroy()).code).toBe(0);
    expect(Object.keys(hashesIn(bed.snapshot("org/tiny", COMMIT))).sort()).toEqual(Object.keys(FILES).sort());
  });
});
