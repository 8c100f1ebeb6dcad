import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureUv } from "../../scripts/setup-uv.mjs";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { startPackageIndex, type PackageIndex } from "../support/package-index";
import type { PulumiResult } from "../support/pulumi-cli";

/** A version that was installed beside the one that serves, and does not start: the one before serves again. */

let bed: Bed;
let index: PackageIndex;
let port: number;
let server: Readonly<Record<string, unknown>>;
let newer: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const tools = mkdtempSync(join(tmpdir(), "return-"));
  symlinkSync(await ensureUv(), join(tools, "uv"));
  bed = await makeBed();
  writeFileSync(join(bed.home, ".profile"), `PATH="${tools}:/usr/bin:/bin"\n`);
  index = await startPackageIndex({
    packages: [
      { kind: "stand-in-vllm", version: "0.31.0" },
      { kind: "stand-in-vllm", version: "0.32.0" },
      { kind: "torch" },
    ],
  });
  port = await freePort("127.0.0.1");
  server = {
    model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
    vllm: { version: "0.31.0", indexUrl: index.url },
    listen: { port },
    apiKey: "sk-the-first",
    environment: { STAND_IN_START_SECONDS: "0.5" },
  };
  newer = { vllm: { version: "0.32.0", indexUrl: index.url }, apiKey: "sk-the-second" };
  return () => {
    rmSync(tools, { recursive: true, force: true });
  };
});

afterAll(async () => {
  await bed.close();
  await index.close();
});

const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};

async function up(changes: Readonly<Record<string, unknown>> = {}): Promise<PulumiResult> {
  await bed.declare({ tiny: { ...server, ...changes } });
  return bed.project.up();
}

const failing = { STAND_IN_START_SECONDS: "0.5", STAND_IN_FAIL: "oom" };
const state = ".local/state/pulumi-vllm";
const environments = (): readonly string[] =>
  readdirSync(join(bed.home, state, "environments")).filter((name) => !name.startsWith("."));
const isKept = async (): Promise<boolean> =>
  existsSync(join(bed.home, state, (await bed.project.servers())[0]?.id ?? "", "last-good"));
const statusFor = async (key: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${String(port)}/v1/models`, { headers: { authorization: `Bearer ${key}` } }))
    .status;

describe("a new version that does not start", () => {
  it("fails the update with its cause, and the version before serves again with its own key", async () => {
    expect((await up()).code).toBe(0);
    const { configHash } = await outputs();
    const { code, stdout, stderr } = await up({ ...newer, environment: failing });
    expect(code).not.toBe(0);
    expect(stdout).toContain("Cannot start server");
    expect(stdout).toContain(
      "what served before (vLLM 0.31.0) serves again; the next `pulumi up` tries the new one again",
    );
    expect(await outputs()).toMatchObject({
      status: "ready",
      vllmVersion: "0.31.0",
      generation: 3,
      configHash,
      drift: [
        expect.stringMatching(/^configHash: another declaration was started/),
        expect.stringMatching(/^environment\.STAND_IN_FAIL: the server was started with another value/),
        expect.stringMatching(/^apiKey: the server was started with another value/),
        expect.stringMatching(/^vllm\.executable: .*\/vllm runs, declared .*\/vllm$/),
      ],
    });
    expect([await statusFor("sk-the-first"), await statusFor("sk-the-second")]).toEqual([200, 401]);
    expect(environments()).toHaveLength(2);
    expect(stdout + stderr + JSON.stringify(await bed.project.servers())).not.toMatch(/sk-the/);
  });

  it("is not forgotten by a refresh: the preview after it still has the update", async () => {
    expect((await bed.project.refresh()).stdout).toContain("another declaration was started");
    expect(await outputs()).toMatchObject({ status: "ready", vllmVersion: "0.31.0" });
    expect((await bed.project.preview()).stdout).toMatch(/1 to update/);
  });

  it("is tried again by the next up, whose failure is told in the same way", async () => {
    const { code, stdout } = await up({ ...newer, environment: failing });
    expect(code).not.toBe(0);
    expect(stdout).toContain("what served before (vLLM 0.31.0) serves again");
    expect(await statusFor("sk-the-first")).toBe(200);
    expect(await isKept()).toBe(false);
  });

  it("leaves nothing running where a return is not wished, and what to return to stays on the host", async () => {
    const { code, stdout } = await up({
      ...newer,
      environment: failing,
      update: { returnToLastGood: false },
    });
    expect(code).not.toBe(0);
    expect(stdout).not.toContain("serves again");
    expect(bed.processes().filter(({ command }) => / serve /.test(command))).toEqual([]);
    expect(await isKept()).toBe(true);
  });

  it("once it starts, serves, and the version before goes with all that was kept of it", async () => {
    const { code, stderr } = await up(newer);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await outputs()).toMatchObject({ status: "ready", vllmVersion: "0.32.0", drift: [] });
    expect([await statusFor("sk-the-first"), await statusFor("sk-the-second")]).toEqual([401, 200]);
    expect(environments()).toHaveLength(1);
    expect(await isKept()).toBe(false);
  });
});
