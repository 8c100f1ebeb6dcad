import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { KIMI_CONFIG, KIMI_HF_QUANT_CONFIG, writeCheckpoint } from "../support/checkpoints";
import { freePort } from "../support/free-port";
import { gpuHost, type GpuHost } from "../support/gpu-host";

/** The box of the incident with the vLLM of the incident: eight stand-in GPUs of SM120, and 0.16.0. */

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
      engine: { tensorParallelSize: 8, maxModelLen: 131072 },
      listen: { port },
      ...inputs,
    },
  });
const leaders = (): readonly unknown[] =>
  bed.processes().filter(({ command }) => command.includes(" serve "));

beforeAll(async () => {
  bed = await gpuHost({ version: "0.16.0" });
  port = await freePort("127.0.0.1");
  checkpoint = writeCheckpoint(join(bed.folder, "Kimi-K2.5-NVFP4"), {
    "config.json": KIMI_CONFIG,
    "hf_quant_config.json": KIMI_HF_QUANT_CONFIG,
  });
});

afterAll(async () => {
  await bed.close();
});

it("is refused before anything is started, with three ways out", async () => {
  await declareKimi({});
  const up = await bed.project.up();
  expect(up.code).not.toBe(0);
  expect(up.stdout).toContain(
    'Cannot start server "kimi" on 127.0.0.1: TRITON_MLA, the only MLA backend of these GPUs, takes no FP8 KV cache before vLLM 0.18',
  );
  expect(up.stdout).toContain(
    'change: kvCacheDtype: "bfloat16"   (or vllm.version 0.18.0 or newer, or GPUs of compute capability 9.0 or 10.0)',
  );
  expect(bed.processes()).toEqual([]);
  expect(bed.serverFolders()).toEqual([]);
});

it("the first way out goes through", async () => {
  await declareKimi({ kvCacheDtype: "bfloat16" });
  const up = await bed.project.up();
  expect(up.stdout + up.stderr).toContain("ready in");
  expect(up.code).toBe(0);
  expect(await outputs()).toMatchObject({ status: "ready", vllmVersion: "0.16.0" });
});

it.each([
  ["the FP8 cache again", { kvCacheDtype: "auto" }, "takes no FP8 KV cache before vLLM 0.18"],
  [
    "a size that does not divide",
    { kvCacheDtype: "bfloat16", engine: { tensorParallelSize: 7, maxModelLen: 131072 } },
    "the model has 64 attention heads, need a multiple of engine.tensorParallelSize 7",
  ],
])("a running server is left alone by %s", async (_what, inputs, why) => {
  const { pid, generation } = await outputs();
  const before = leaders();
  await declareKimi(inputs);
  const up = await bed.project.up();
  expect(up.code).not.toBe(0);
  expect(up.stdout).toContain(why);
  expect(leaders()).toEqual(before);
  await declareKimi({ kvCacheDtype: "bfloat16" });
  expect((await bed.project.up()).code).toBe(0);
  expect(await outputs()).toMatchObject({ status: "ready", pid, generation });
});
