import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KIMI_CONFIG, KIMI_HF_QUANT_CONFIG, writeCheckpoint } from "../support/checkpoints";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { freePort } from "../support/free-port";

/** The incident the product exists for, told by the real CLI over the real sshd; vLLM and the eight GPUs are the stand-in's. */

/** On a terminal of 80 columns. */
const FAILURE = `        * Cannot start server "kimi" on 127.0.0.1: the attention backend of
          this vLLM does not take the KV cache dtype that was asked for (by
          kvCacheDtype or by the checkpoint)
      proof:  NotImplementedError: TritonMLA V1 with FP8 KV cache not yet
              supported   (worker N, log line N)
      change: kvCacheDtype: "bfloat16" (--kv-cache-dtype bfloat16; it also nulls
              kv_cache_quant_algo and kv_cache_scheme of the checkpoint), or
              vllm.version newer (for MLA 0.18 or later)
      log:    ssh ...
      a retry will not help`;

let bed: GpuHost;
let checkpoint: string;
let port: number;
const outputs = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await bed.project.servers())[0]?.outputs ?? {};
const declareKimi = (inputs: Readonly<Record<string, unknown>>): Promise<void> =>
  bed.declare({
    kimi: {
      model: { path: checkpoint },
      vllm: { executable: bed.executable },
      engine: { tensorParallelSize: 8, maxModelLen: 131072, servedModelName: ["kimi"] },
      listen: { port },
      service: { restart: { max: 0 } },
      ...inputs,
    },
  });

beforeAll(async () => {
  bed = await gpuHost();
  port = await freePort("127.0.0.1");
  checkpoint = writeCheckpoint(join(bed.folder, "Kimi-K2.5-NVFP4"), {
    "config.json": KIMI_CONFIG,
    "hf_quant_config.json": KIMI_HF_QUANT_CONFIG,
  });
});

afterAll(async () => {
  await bed.close();
});

describe("the incident", () => {
  it("a start that fails names the cause, the line that proves it and the input to change, and leaves the GPUs free", async () => {
    await declareKimi({});
    const up = await bed.project.up();
    expect(up.code).not.toBe(0);
    expect(up.stdout).toContain('Cannot start server "kimi" on 127.0.0.1');
    expect(up.stdout).toMatch(/proof: .*NotImplementedError: .*FP8 KV cache/);
    expect(up.stdout).toContain('change: kvCacheDtype: "bfloat16"');
    expect(up.stdout).toContain("a retry will not help");
    const error =
      /^ {4}\t\* Cannot start.*(?:\n.*\S.*)*/m.exec(up.printed)?.[0].replaceAll("\t", "    ") ?? "";
    expect(
      error.replace(/worker \d, log line \d+/, "worker N, log line N").replace(/ssh .*/, "ssh ..."),
    ).toBe(FAILURE);
    expect(bed.processes()).toEqual([]);
    expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
  });

  it("one input changed, and it is ready: eight GPUs, a 16-bit cache, one real answer", async () => {
    await declareKimi({ kvCacheDtype: "bfloat16" });
    const up = await bed.project.up();
    expect(up.stdout + up.stderr).toContain("ready in");
    expect(up.code).toBe(0);
    const seen = await outputs();
    expect(seen).toMatchObject({
      status: "ready",
      drift: [],
      servedModelName: "kimi",
      maxModelLen: 131072,
      baseUrl: `http://127.0.0.1:${String(port)}/v1`,
    });
    expect(seen["gpuUuids"]).toHaveLength(8);
    expect(bed.sharedMemory()).toHaveLength(2);
    expect(bed.gpuMemoryMib().every((mib) => mib > bed.idleMib)).toBe(true);
    const answer = await complete(port, "kimi");
    expect(answer).toMatchObject({ model: "kimi", system_fingerprint: seen["configHash"] });
  });

  it("the checkpoint itself is untouched, and the overlay holds null where the FP8 cache was asked for", async () => {
    const original = JSON.parse(readFileSync(join(checkpoint, "config.json"), "utf8"));
    expect(original).toEqual(KIMI_CONFIG);
    const overlay = String((await outputs())["modelPath"]);
    const patched = JSON.parse(readFileSync(join(overlay, "config.json"), "utf8"));
    expect(patched).toEqual({
      ...KIMI_CONFIG,
      quantization_config: { ...KIMI_CONFIG.quantization_config, kv_cache_scheme: null },
    });
    expect(JSON.parse(readFileSync(join(overlay, "hf_quant_config.json"), "utf8"))).toEqual({
      ...KIMI_HF_QUANT_CONFIG,
      quantization: { ...KIMI_HF_QUANT_CONFIG.quantization, kv_cache_quant_algo: null },
    });
  });

  it("a preview without a change says so and opens no connection", async () => {
    const before = bed.sshd.connectionCount();
    const preview = await bed.project.preview(["--expect-no-changes"]);
    expect(preview.code).toBe(0);
    expect(bed.sshd.connectionCount()).toBe(before);
  });

  it("a second up touches nothing: same process, same generation", async () => {
    const { pid, generation } = await outputs();
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ pid, generation });
  });

  it("a changed input restarts it once, and preview says why before", async () => {
    const { generation } = await outputs();
    await declareKimi({
      kvCacheDtype: "bfloat16",
      engine: { tensorParallelSize: 8, maxModelLen: 65536, servedModelName: ["kimi"] },
    });
    const preview = await bed.project.preview();
    expect(preview.stdout).toMatch(
      /restart: engine\.maxModelLen 131072 -> 65536; down about \d+ s \(last start took \d+ s\)/,
    );
    expect((await bed.project.up()).code).toBe(0);
    expect(await outputs()).toMatchObject({ maxModelLen: 65536, generation: Number(generation) + 1 });
  });

  it("the API server killed: refresh shows it, preview says what will be done, up heals it with the orphans gone first", async () => {
    const { pid, generation } = await outputs();
    process.kill(Number(pid), "SIGKILL");
    const refresh = await bed.project.refresh();
    expect(refresh.code).toBe(0);
    expect(refresh.stdout).toContain("it died (signal 9)");
    const after = await outputs();
    expect(after).toMatchObject({ status: "crashed", pid: null });
    expect(after["drift"]).toEqual([
      expect.stringMatching(/^status: it died \(signal 9\): a process was killed /),
    ]);
    const preview = await bed.project.preview();
    expect(preview.stdout).toContain("start: status: it died (signal 9)");
    expect((await bed.project.up()).code).toBe(0);
    const healed = await outputs();
    expect(healed).toMatchObject({ status: "ready", drift: [], generation: Number(generation) + 1 });
    expect(bed.sharedMemory()).toHaveLength(2);
    expect(bed.processes().filter(({ command }) => command.includes(" serve "))).toHaveLength(1);
  });

  it("destroy gives the GPUs back: no process, no shared memory, memory at its baseline, no record", async () => {
    const destroy = await bed.project.destroy();
    expect(destroy.code).toBe(0);
    expect(destroy.stdout).toMatch(
      /stopped in \d+ s: 11 processes ended, .*memory of 8 GPUs back at \d+ MiB/,
    );
    expect(bed.processes()).toEqual([]);
    expect(bed.sharedMemory()).toEqual([]);
    expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
    await expect(complete(port, "kimi")).rejects.toThrow("fetch failed");
    expect(bed.serverFolders()).toEqual([]);
  });
});

async function complete(toPort: number, model: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${String(toPort)}/v1/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, prompt: "Hello", max_tokens: 4 }),
  });
  return response.json();
}
