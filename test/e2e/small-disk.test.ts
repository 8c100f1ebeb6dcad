import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureHf } from "../../scripts/setup-hf.mjs";
import { TINY_LLAMA } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { startModelHub, type ModelHub } from "../support/model-hub";
import { mountSmallDisk, type SmallDisk } from "../support/small-disk";

/** The hub cache of a host on a disk that is just too small for one more checkpoint. In order. */

const MIB = 1024 * 1024;
/** What has to stay free. Source: agent/hub_room.py. */
const MARGIN_BYTES = 512 * MIB;
const NEW_BYTES = 16 * MIB;
const COMMIT = "c".repeat(40);
const CONFIG = JSON.stringify(TINY_LLAMA);

/** Files of a checkpoint that is that large as a whole. */
const checkpoint = (bytes: number): object => ({
  revisions: [
    {
      sha: COMMIT,
      refs: ["main"],
      files: {
        "config.json": { text: CONFIG },
        "model.safetensors": { safetensors: bytes - Buffer.byteLength(CONFIG) },
      },
    },
  ],
});

let bed: GpuHost;
let hub: ModelHub;
let disk: SmallDisk | null;
let cacheDir: string;
let servers: Readonly<Record<"used" | "new", Readonly<Record<string, unknown>>>>;

beforeAll(async () => {
  bed = await gpuHost();
  symlinkSync(await ensureHf(), join(dirname(bed.executable), "hf"));
  hub = await startModelHub({
    repositories: { "org/used": checkpoint(MIB), "org/new": checkpoint(NEW_BYTES) },
  });
  cacheDir = join(bed.folder, "cache");
  disk = mountSmallDisk(cacheDir);
  const server = async (repo: string): Promise<Readonly<Record<string, unknown>>> => ({
    ...(await bed.tinyServer(0.5)),
    model: { repo, revision: COMMIT, endpoint: hub.url, cacheDir },
    listen: { port: await freePort("127.0.0.1") },
  });
  servers = { used: await server("org/used"), new: await server("org/new") };
});

afterAll(async () => {
  try {
    await bed.project.destroy();
  } finally {
    disk?.unmount();
    await hub.close();
    await bed.close();
  }
});

/** Every file of the cache and its size. */
const cached = (): readonly string[] =>
  readdirSync(cacheDir, { recursive: true, encoding: "utf8" })
    .map((path) => ({ path, found: statSync(join(cacheDir, path)) }))
    .filter(({ found }) => found.isFile())
    .map(({ path, found }) => `${path} ${String(found.size)}`)
    .toSorted();

/** A revision that somebody fetched and no server uses; its folder. */
function leave(repository: string, bytes: number): string {
  const folder = join(cacheDir, `models--org--${repository}`);
  const snapshot = join(folder, "snapshots", COMMIT);
  for (const made of [join(folder, "blobs"), snapshot]) mkdirSync(made, { recursive: true });
  writeFileSync(join(folder, "blobs/0a1b"), Buffer.alloc(bytes));
  symlinkSync("../../blobs/0a1b", join(snapshot, "model.safetensors"));
  return snapshot;
}

/** How often the hub was asked for the weights of the new checkpoint. */
const weightsAskedFor = async (): Promise<number> =>
  (await hub.state()).files["org/new"]?.["model.safetensors"]?.gets ?? 0;

describe("a disk that is too small for a checkpoint by one MiB", () => {
  it("says what is missing and what nobody uses before anything is downloaded, and deletes nothing", async (context) => {
    context.skip(disk === null, "no right to mount a small disk");
    await bed.declare({ used: servers.used });
    expect((await bed.project.up()).code).toBe(0);
    const small = leave("small", 2_000_000);
    const large = leave("large", 3_000_000);
    const free = NEW_BYTES + MARGIN_BYTES - MIB;
    disk?.setFree(free);
    const before = cached();
    await bed.declare(servers);
    const refused = await bed.project.up();
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toContain(
      `Cannot download org/new@${COMMIT.slice(0, 12)} to ${cacheDir}: ${String(NEW_BYTES)} bytes are missing and ` +
        `${String(free)} are free, need ${String(MIB)} bytes (1.0 MB) more (536.9 MB stay free)`,
    );
    // The one that a server uses is not among them.
    expect(refused.stdout).toContain(
      `cached revisions that no server here uses: ${large} (3.0 MB); ${small} (2.0 MB)\n`,
    );
    expect(refused.stdout).toMatch(
      /change: free space there, set model\.cacheDir to a larger disk, or remove cached revisions/,
    );
    expect(await weightsAskedFor()).toBe(0);
    expect(cached()).toEqual(before);
    expect(bed.processes().filter(({ command }) => / serve /.test(command))).toHaveLength(1);
  });

  it("is large enough with one MiB more", async (context) => {
    context.skip(disk === null, "no right to mount a small disk");
    const before = cached();
    disk?.setFree(NEW_BYTES + MARGIN_BYTES);
    const { code, stdout } = await bed.project.up();
    expect(stdout).toContain("downloaded 16.8 MB in");
    expect(code).toBe(0);
    const found = (await bed.project.servers()).map(({ outputs }) => outputs);
    expect(found.map((outputs) => [outputs?.["status"], outputs?.["drift"]])).toEqual([
      ["ready", []],
      ["ready", []],
    ]);
    expect(await weightsAskedFor()).toBe(1);
    expect(cached()).toEqual(expect.arrayContaining([...before]));
  });
});
