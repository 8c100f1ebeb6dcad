import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KIMI_CONFIG, KIMI_HF_QUANT_CONFIG, TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { sessionOf } from "../vllm/observations-proc";
import { startServer } from "../vllm/observations-server";
import { install, SMALL, type Installed } from "./subject";

interface Row {
  readonly mode: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, unknown>>;
  readonly config?: string;
  readonly exit: number;
  readonly says: readonly RegExp[];
}

const WRAPPER =
  /^RuntimeError: Engine core initialization failed\. See root cause above\. Failed core proc\(s\): \{\}$/m;
/** Each row its own: they run at the same time. */
const gpu = (index: number): Readonly<Record<string, string>> => ({ CUDA_VISIBLE_DEVICES: String(index) });

const ROWS: readonly Row[] = [
  {
    mode: "an FP8 KV cache asked for by an MLA checkpoint",
    environment: gpu(0),
    files: { "config.json": KIMI_CONFIG, "hf_quant_config.json": KIMI_HF_QUANT_CONFIG },
    exit: 1,
    says: [
      /^\(Worker pid=\d+\) ERROR .* NotImplementedError: TritonMLA V1 with FP8 KV cache not yet supported$/m,
      WRAPPER,
    ],
  },
  {
    mode: "CUDA out of memory",
    environment: { ...gpu(1), STAND_IN_FAIL: "oom" },
    exit: 1,
    says: [
      /ERROR .* torch\.OutOfMemoryError: CUDA out of memory\. Tried to allocate 896\.00 MiB\. GPU 0 has a total capacity of 95\.59 GiB/,
      WRAPPER,
    ],
  },
  {
    mode: "a KV cache too small for the model length, with vLLM's suggestion",
    environment: { STAND_IN_MAX_LEN: "64" },
    exit: 1,
    says: [
      /ERROR .* ValueError: To serve at least one request with the model's max seq len \(128\), .* the estimated maximum model length is 64\./,
      WRAPPER,
    ],
  },
  {
    mode: "GPU memory that somebody else holds",
    environment: { ...gpu(2), STAND_IN_FAIL: "gpu-memory-taken" },
    exit: 1,
    says: [
      /ValueError: Free memory on device cuda:0 \(6\.19\/95\.59 GiB\) on startup is less than desired GPU memory utilization \(0\.92, 87\.95 GiB\)/,
      WRAPPER,
    ],
  },
  {
    mode: "custom code that is not trusted",
    files: { "config.json": { ...TINY_LLAMA, auto_map: { AutoConfig: "configuration_x.X" } } },
    exit: 1,
    says: [
      /^pydantic_core\._pydantic_core\.ValidationError: 1 validation error for ModelConfig$/m,
      /contains custom code which must be executed/,
    ],
  },
  {
    mode: "a folder without config.json",
    files: {},
    exit: 1,
    says: [
      /Value error, Invalid repository ID or local directory specified/,
      /ensure the presence of a 'config\.json'/,
    ],
  },
  {
    mode: "weights that are not there",
    environment: { STAND_IN_FAIL: "missing-files" },
    config: "max-model-len: 128\n",
    exit: 1,
    says: [/ERROR .* RuntimeError: Cannot find any model weights with `\/.*`/, WRAPPER],
  },
  {
    mode: "a length above what the model can",
    config: "max-model-len: 4096\n",
    exit: 1,
    says: [
      /Value error, User-specified max_model_len \(4096\) is greater than the derived max_model_len \(max_position_embeddings=256\.0/,
    ],
  },
  {
    mode: "more ranks than GPUs",
    environment: gpu(3),
    config: "tensor-parallel-size: 2\n",
    exit: 1,
    says: [/World size \(2\) is larger than the number of available GPUs \(1\) in this node/],
  },
  {
    mode: "a worker killed while it loads",
    environment: { STAND_IN_FAIL: "crash-at=0.6" },
    exit: 1,
    says: [/Worker proc VllmWorker-0 died unexpectedly \(exit code: -9\), shutting down executor\./, WRAPPER],
  },
  {
    mode: "an engine killed after it was ready",
    environment: { STAND_IN_FAIL: "die-after-ready", STAND_IN_DIE_AFTER_SECONDS: "0.1" },
    exit: 0,
    says: [/EngineDeadError: EngineCore encountered an issue/],
  },
  {
    mode: "a value that is no choice",
    config: 'kv-cache-dtype: "fp99"\n',
    exit: 2,
    says: [
      /^vllm serve: error: argument --kv-cache-dtype: invalid choice: 'fp99' \(choose from 'auto', 'bfloat16'/m,
    ],
  },
];

describe("a start fails as vLLM's does", () => {
  let installed: Installed;
  beforeAll(() => {
    installed = install();
  });
  afterAll(() => {
    installed.remove();
  });

  it.concurrent.each(ROWS.map((row, index) => ({ ...row, index })))("$mode", async (row) => {
    const model = writeCheckpoint(
      join(installed.folder, `model-${row.index}`),
      row.files ?? { "config.json": TINY_LLAMA },
    );
    const server = await startServer(installed.subject(), {
      model,
      config: row.config ?? SMALL,
      environment: row.environment ?? {},
    });
    try {
      expect(await server.exited).toEqual({ code: row.exit, signal: null });
      await server.until("end of the session", () => sessionOf(server.pid).length === 0);
      for (const pattern of row.says) expect(server.log()).toMatch(pattern);
    } finally {
      await server.discard();
    }
  });
});
