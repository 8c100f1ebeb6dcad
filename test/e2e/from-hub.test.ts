import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureHf } from "../../scripts/setup-hf.mjs";
import { ensureUv } from "../../scripts/setup-uv.mjs";
import { makeBed, type Bed } from "../support/bed";
import { FP8_KV_CACHE, TINY_LLAMA } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { startModelHub, type ModelHub } from "../support/model-hub";
import { startPackageIndex, type PackageIndex } from "../support/package-index";
import type { PulumiResult } from "../support/pulumi-cli";

/** A bare host with Python becomes a serving one: the real uv and the real client, a hub and a package index on this machine. */

const COMMIT = "a".repeat(40);
const NEWER = "b".repeat(40);
const SHARD_BYTES = 3_000_000;
const TOKEN = "hf_who_may_read_it";
const SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
const FILES = {
  "config.json": { json: { ...TINY_LLAMA, quantization_config: FP8_KV_CACHE } },
  "model.safetensors.index.json": {
    json: { metadata: {}, weight_map: { a: SHARDS[0], b: SHARDS[1] } },
  },
  ...Object.fromEntries(SHARDS.map((name) => [name, { safetensors: SHARD_BYTES }])),
  "original/consolidated.00.pth": { zeros: SHARD_BYTES },
};

let bed: Bed;
let hub: ModelHub;
let index: PackageIndex;
let server: Readonly<Record<string, unknown>>;
let model: Readonly<Record<string, unknown>>;
let indexUrl: string;

beforeAll(async () => {
  const tools = mkdtempSync(join(tmpdir(), "from-hub-"));
  symlinkSync(await ensureUv(), join(tools, "uv"));
  symlinkSync(await ensureHf(), join(tools, "hf"));
  const python = "import sys; print(getattr(sys, '_base_executable', sys.executable))";
  symlinkSync(execFileSync("python3", ["-c", python], { encoding: "utf8" }).trim(), join(tools, "python3"));
  bed = await makeBed();
  writeFileSync(join(bed.home, ".profile"), `PATH="${tools}:/usr/bin:/bin"\n`);
  hub = await startModelHub({
    repositories: {
      "org/tiny": {
        gated: true,
        tokens: [TOKEN],
        revisions: [
          { sha: COMMIT, refs: ["main"], files: FILES },
          { sha: NEWER, refs: [], files: FILES },
        ],
      },
    },
  });
  index = await startPackageIndex({
    login: { user: "ann", password: "sesame-4711" },
    packages: [
      { kind: "stand-in-vllm", version: "0.31.0" },
      { kind: "stand-in-vllm", version: "0.32.0" },
      { kind: "torch" },
    ],
  });
  indexUrl = index.url.replace("://", "://ann:sesame-4711@");
  model = { repo: "org/tiny", revision: "main", endpoint: hub.url, token: TOKEN };
  server = {
    model,
    vllm: { version: "0.31.0", indexUrl },
    kvCacheDtype: "bfloat16",
    listen: { port: await freePort("127.0.0.1") },
    environment: { STAND_IN_START_SECONDS: "0.5" },
    onDelete: { model: "purge" },
  };
  return () => {
    rmSync(tools, { recursive: true, force: true });
  };
});

afterAll(async () => {
  await bed.close();
  await hub.close();
  await index.close();
});

const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};

async function up(changes: Readonly<Record<string, unknown>> = {}): Promise<PulumiResult> {
  await bed.declare({ tiny: { ...server, ...changes } });
  return bed.project.up();
}

const state = (name: string): string => join(bed.home, ".local/state/pulumi-vllm", name);
const snapshot = (): string => join(bed.home, ".cache/huggingface/hub/models--org--tiny/snapshots", COMMIT);
const environments = (): readonly string[] =>
  readdirSync(state("environments")).filter((name) => !name.startsWith("."));

describe("a server whose model and vLLM are declared by name", () => {
  it("is refused without a token that may read the model, before anything is started", async () => {
    const { code, stdout } = await up({ model: { ...model, token: undefined } });
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/Cannot .*org\/tiny/);
    expect(bed.processes().filter(({ command }) => / serve /.test(command))).toEqual([]);
  });

  it("is installed, downloaded, patched and served by one up, and says so", async () => {
    const { code, stdout, stderr } = await up();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`org/tiny@main is ${COMMIT}, and stays that until the input changes`);
    expect(stdout).toMatch(/downloaded 6\.0 MB in \d+ s \(4 files, 6\.0 MB\)/);
    expect(await outputs()).toMatchObject({
      status: "ready",
      modelRevision: COMMIT,
      vllmVersion: "0.31.0",
      servedModelName: "org/tiny",
      drift: [],
    });
    expect((await up()).stdout).toContain("2 unchanged");
  });

  it("shows its token and the index's login nowhere", async () => {
    const { stdout, stderr } = await bed.project.preview();
    const shown = JSON.stringify([stdout, stderr, await bed.project.servers()]);
    expect(shown).not.toMatch(/hf_who_may_read_it|sesame-4711/);
    expect((await hub.state()).leakedTokens).toEqual([]);
  });

  it("stays at the commit that its branch was resolved to, and is not restarted for another token", async () => {
    await hub.move("org/tiny", "main", NEWER);
    const { pid } = await outputs();
    const changed = await up({ model: { ...model, token: "hf_other" } });
    expect(changed.stdout).toContain("no restart: model.token changed");
    expect(await outputs()).toMatchObject({ pid, modelRevision: COMMIT });
    expect((await up({ engine: { maxModelLen: 128 } })).code).toBe(0);
    expect(await outputs()).toMatchObject({ generation: 2, modelRevision: COMMIT });
  });

  it("has a file that somebody removed back without a restart, and that file alone is fetched", async () => {
    const engine = { maxModelLen: 128 };
    const { pid } = await outputs();
    const before = (await hub.state()).bytes;
    rmSync(join(snapshot(), SHARDS[1] ?? ""));
    const refreshed = await bed.project.refresh();
    expect(refreshed.stdout).toContain("modelPath: ");
    const repaired = await up({ engine });
    expect({ code: repaired.code, stderr: repaired.stderr }).toEqual({ code: 0, stderr: "" });
    expect(await outputs()).toMatchObject({ pid, drift: [], modelRevision: COMMIT });
    expect((await hub.state()).bytes - before).toBeLessThan(1.5 * SHARD_BYTES);
  });

  it("moves to another version that is built beside the one that runs, which then goes", async () => {
    const [old] = environments();
    const { code, stdout } = await up({ vllm: { version: "0.32.0", indexUrl } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/vllm\.version 0\.31\.0 -> 0\.32\.0/);
    expect(stdout).toMatch(/installed vLLM 0\.32\.0 in \d+ s/);
    expect(await outputs()).toMatchObject({ status: "ready", vllmVersion: "0.32.0" });
    expect(environments()).toHaveLength(1);
    expect(environments()).not.toContain(old);
  });

  it("gives the model's files back when it is destroyed and nobody else uses them", async () => {
    const { code, stdout } = await bed.project.destroy();
    expect(code).toBe(0);
    expect(stdout).toMatch(/purged 6\.0 MB/);
    expect(existsSync(snapshot())).toBe(false);
    expect(bed.processes()).toEqual([]);
  });
});
