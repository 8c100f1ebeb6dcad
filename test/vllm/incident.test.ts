import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { FP8_KV_CACHE, TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { realVllm } from "../support/real-vllm";

/**
 * The incident with nothing stood in for: the real CLI, the real sshd, the real vLLM 0.32.0 (CPU build).
 * A processor with AVX-512 can do FP8 KV caches; there the start that fails asks for more context than the model has.
 */

const hasAvx512 = readFileSync("/proc/cpuinfo", "utf8").includes("avx512f");

let bed: Bed;
let executable: string;
let checkpoint: string;
let port: number;

const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};
const declareTiny = (inputs: Readonly<Record<string, unknown>>, maxModelLen = 128): Promise<void> =>
  bed.declare({
    tiny: {
      model: { path: checkpoint },
      vllm: { executable },
      engine: {
        loadFormat: "dummy",
        dtype: "bfloat16",
        maxModelLen,
        enforceEager: true,
        servedModelName: ["tiny"],
      },
      extraArgs: { "skip-tokenizer-init": true, "shutdown-timeout": 10 },
      environment: { VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_OMP_THREADS_BIND: "nobind", HF_HUB_OFFLINE: "1" },
      listen: { port },
      service: { restart: { max: 0 } },
      timeouts: { ready: 600 },
      ...inputs,
    },
  });

beforeAll(async () => {
  executable = realVllm();
  bed = await makeBed();
  port = await freePort("127.0.0.1");
  checkpoint = writeCheckpoint(join(bed.folder, "tiny"), {
    "config.json": { ...TINY_LLAMA, quantization_config: FP8_KV_CACHE },
  });
});

afterAll(async () => {
  await bed.close();
});

describe(`the incident on the real vLLM (${hasAvx512 ? "with" : "without"} AVX-512)`, () => {
  it("a start that fails names the proving line and the input to change, long before the timeout, and leaves nothing", async () => {
    await declareTiny({}, hasAvx512 ? 100_000 : 128);
    const up = await bed.project.up();
    expect(up.code).not.toBe(0);
    if (hasAvx512) {
      expect(up.stdout).toMatch(
        /proof: .*User-specified max_model_len \(100000\) is greater than the derived max_model_len/,
      );
      expect(up.stdout).toMatch(/change: engine\.maxModelLen/);
    } else {
      expect(up.stdout).toMatch(
        /proof: .*NotImplementedError: FP8 KV cache on CPU requires x86 with AVX-512 or AMX\./,
      );
      expect(up.stdout).toContain('change: kvCacheDtype: "bfloat16"');
    }
    expect(bed.processes()).toEqual([]);
  });

  it("with the input changed it is ready and answers one token with our fingerprint", async () => {
    await declareTiny({ kvCacheDtype: "bfloat16" });
    const up = await bed.project.up();
    expect(up.stdout).toMatch(
      /ready in \d+ s: start \d+; 128 tokens, KV cache (auto|bfloat16), [\d.]+x concurrency/,
    );
    expect(up.code).toBe(0);
    const seen = await outputs();
    expect(seen).toMatchObject({
      status: "ready",
      drift: [],
      vllmVersion: "0.32.0+cpu",
      maxModelLen: 128,
      gpuUuids: [],
    });
    const answer = await complete();
    expect(answer).toMatchObject({
      model: "tiny",
      system_fingerprint: seen["configHash"],
      usage: { completion_tokens: 1 },
    });
    expect(bed.sharedMemory()).toHaveLength(2);
  });

  it("an up without a change does not touch it", async () => {
    const { pid, generation } = await outputs();
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ pid, generation });
  });

  it("a changed maxModelLen restarts it once", async () => {
    const { generation } = await outputs();
    await declareTiny({ kvCacheDtype: "bfloat16" }, 64);
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({
      status: "ready",
      maxModelLen: 64,
      generation: Number(generation) + 1,
    });
  });

  it("the API server killed: refresh tells, up heals, one server is left", async () => {
    const { pid, generation } = await outputs();
    process.kill(Number(pid), "SIGKILL");
    expect((await bed.project.refresh()).stdout).toContain("it died (signal 9)");
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ status: "ready", drift: [], generation: Number(generation) + 1 });
    expect(bed.processes().filter(({ command }) => / serve /.test(command))).toHaveLength(1);
    expect(bed.sharedMemory()).toHaveLength(2);
  });

  it("destroy leaves no process, no shared memory and a free port", async () => {
    expect((await bed.project.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
    expect(bed.sharedMemory()).toEqual([]);
    await expect(complete()).rejects.toThrow("fetch failed");
  });
});

async function complete(): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/v1/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "tiny", prompt: [1, 2, 3], max_tokens: 1, detokenize: false }),
  });
  return response.json();
}
