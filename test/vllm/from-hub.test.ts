import { createHash } from "node:crypto";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { FP8_KV_CACHE } from "../support/checkpoints";
import { writeCountingModel } from "../support/counting-model";
import { freePort } from "../support/free-port";
import { startModelHub, type ModelHub } from "../support/model-hub";
import { realVllm, SMALL_SERVER } from "../support/real-vllm";

/** The real vLLM 0.32.0 serves what came through the hub, with the incident's wish for FP8 in it, patched in an overlay. */

const COMMIT = "c".repeat(40);
/** Two layers, keys and values, two heads of 32, two bytes each. */
const SIXTEEN_BIT_TOKEN_BYTES = 2 * 2 * 2 * 32 * 2;

let bed: Bed;
let hub: ModelHub;
let published: string;
let server: Readonly<Record<string, unknown>>;
let port: number;
let hashes: Readonly<Record<string, string>>;

beforeAll(async () => {
  const executable = realVllm();
  published = join(mkdtempSync(join(tmpdir(), "published-")), "model");
  const files = writeCountingModel(published, { quantization_config: FP8_KV_CACHE });
  hashes = Object.fromEntries(files.map((name) => [name, sha256(join(published, name))]));
  bed = await makeBed();
  // Its hub client stands beside it.
  writeFileSync(join(bed.home, ".profile"), `PATH="${dirname(executable)}:/usr/bin:/bin"\n`);
  hub = await startModelHub({
    repositories: { "org/counting": { revisions: [{ sha: COMMIT, refs: ["main"], folder: published }] } },
  });
  port = await freePort("127.0.0.1");
  server = {
    ...SMALL_SERVER,
    model: { repo: "org/counting", revision: "main", endpoint: hub.url, verify: "full" },
    vllm: { executable },
    kvCacheDtype: "bfloat16",
    listen: { port },
    onDelete: { model: "purge" },
  };
});

afterAll(async () => {
  await bed.close();
  await hub.close();
  rmSync(dirname(published), { recursive: true });
});

const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};
const cache = (): string => join(bed.home, ".cache/huggingface/hub/models--org--counting");

async function ask(path: string, body?: object): Promise<string> {
  const asked = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
    ...asked,
    headers: { "content-type": "application/json" },
  });
  return response.text();
}

describe("the real vLLM, from a hub", () => {
  it("is served by one up", async () => {
    await bed.declare({ counting: server });
    const { code, stdout, stderr } = await bed.project.up();
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`org/counting@main is ${COMMIT}`);
    expect(await outputs()).toMatchObject({ status: "ready", modelRevision: COMMIT, drift: [] });
  });

  it("answers with the weights that the hub has", async () => {
    const body = { model: "tiny", max_tokens: 4, temperature: 0 };
    const chat: unknown = JSON.parse(
      await ask("/v1/chat/completions", { ...body, messages: [{ role: "user", content: "10 11 12" }] }),
    );
    expect(chat).toMatchObject({
      choices: [{ message: { role: "assistant", content: expect.stringMatching(/^ ?13 14 15 16$/) } }],
      system_fingerprint: (await outputs())["configHash"],
    });
    const completion: unknown = JSON.parse(await ask("/v1/completions", { ...body, prompt: "40" }));
    expect(completion).toMatchObject({ choices: [{ text: expect.stringMatching(/^ ?41 42 43 44$/) }] });
  });

  it("keeps its KV cache in the wished type, by what it says and by what it takes", async () => {
    expect(await outputs()).toMatchObject({ resolvedKvCacheDtype: "bfloat16" });
    const info = /^vllm:cache_config_info\{(.*)\}/m.exec(await ask("/metrics"))?.[1] ?? "";
    const label = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(info)?.[1];
    expect(label("cache_dtype")).toMatch(/^(auto|bfloat16)$/);
    const tokens = Number(label("kv_cache_size_tokens"));
    // Whole blocks of the 1 GiB that it was given.
    expect((tokens * SIXTEEN_BIT_TOKEN_BYTES) / 2 ** 30).toBeCloseTo(1, 1);
    const log = readFileSync(String((await outputs())["logPath"]), "utf8");
    expect(log).toMatch(/dtype=torch\.bfloat16, max_seq_len=.* kv_cache_dtype=(auto|bfloat16), /);
  });

  it("is served from an overlay of links, and no byte that came from the hub was changed", async () => {
    const overlay = String((await outputs())["modelPath"]);
    expect(dirname(overlay)).toBe(join(bed.home, ".local/state/pulumi-vllm/overlays"));
    const config: unknown = JSON.parse(readFileSync(join(overlay, "config.json"), "utf8"));
    expect(config).toMatchObject({ quantization_config: { ...FP8_KV_CACHE, kv_cache_scheme: null } });
    const snapshot = join(cache(), "snapshots", COMMIT);
    expect(
      Object.fromEntries(readdirSync(snapshot).map((name) => [name, sha256(join(snapshot, name))])),
    ).toEqual(hashes);
    for (const name of readdirSync(overlay).filter((entry) => entry !== "config.json")) {
      expect(realpathSync(join(overlay, name))).toBe(realpathSync(join(snapshot, name)));
    }
    const blobs = readdirSync(join(cache(), "blobs"));
    expect(blobs.map((name) => sha256(join(cache(), "blobs", name))).sort()).toEqual(
      [...new Set(Object.values(hashes))].sort(),
    );
  });

  it("gives everything back when it is destroyed, the bytes of the model too", async () => {
    const bytes = Object.keys(hashes).reduce((sum, name) => sum + statSync(join(published, name)).size, 0);
    const { code, stdout } = await bed.project.destroy();
    expect(code).toBe(0);
    expect(stdout).toContain(`purged ${String(Math.round(bytes / 1000))} kB`);
    expect(readdirSync(dirname(cache())).filter((name) => name.startsWith("models--"))).toEqual([]);
    expect(bed.processes()).toEqual([]);
    expect(bed.sharedMemory()).toEqual([]);
    await expect(ask("/health")).rejects.toThrow("fetch failed");
  });
});
