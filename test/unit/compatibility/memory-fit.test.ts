import { describe, expect, test } from "vitest";
import { memoryFindings } from "../../../provider/src/core/compatibility/memory-findings";
import { memoryFit, type MemoryQuestion } from "../../../provider/src/core/compatibility/memory-fit";
import { modelFactsOf } from "../../../provider/src/core/compatibility/model-facts";
import { weightShare } from "../../../provider/src/core/compatibility/weight-share";
import type { Finding } from "../../../provider/src/core/finding";
import { LLAMA, LLAMA_70B, QWEN_MOE } from "./situations";

const GIB = 1024 ** 3;
const H100 = { name: "NVIDIA H100 80GB HBM3", memoryTotalMib: 81559 };
const base: MemoryQuestion = {
  configText: JSON.stringify(LLAMA),
  weightBytes: 16060522496,
  dtypeBytes: 2,
  parallel: { tensor: 1, pipeline: 1, data: 1, isExpertParallel: false },
  kvDtype: "auto",
  maxModelLen: 8192,
  utilization: 0.9,
  kvCacheBytes: null,
  gpus: [H100, H100],
  step: { tokens: null, requests: null },
  isEager: false,
  version: [0, 18],
};
const found = (change: Partial<MemoryQuestion>): readonly Finding[] => {
  const question = { ...base, ...change };
  return memoryFindings(memoryFit(question), question);
};

describe("what is told", () => {
  test("a note where it fits", () => {
    expect(found({})).toEqual([
      {
        severity: "note",
        code: "GPU_MEMORY_ESTIMATE",
        summary:
          "about 15.0 GiB of weights on each GPU, and 430,000 tokens of KV cache, 53.1 requests of 8,192 at once (an estimate)",
      },
    ]);
  });

  test("a warning with the largest length that fits", () => {
    const small = { name: "NVIDIA GeForce RTX 3090", memoryTotalMib: 24576 };
    const [warning] = found({ gpus: [H100, small], maxModelLen: 131072 });
    expect(warning).toMatchObject({
      severity: "warning",
      code: "GPU_MEMORY_TOO_SMALL",
      path: "engine.maxModelLen",
    });
    const { largestMaxModelLen } = memoryFit({ ...base, gpus: [small], maxModelLen: 131072 });
    expect(warning?.change).toBe(
      `engine.maxModelLen: ${String(largestMaxModelLen)}   (or more GPUs, or engine.gpuMemoryUtilization)`,
    );
    expect(found({ gpus: [small], maxModelLen: largestMaxModelLen })[0]?.severity).toBe("note");
    expect(found({ gpus: [small], maxModelLen: (largestMaxModelLen ?? 0) + 1 })[0]?.severity).toBe("warning");
  });

  test("an error only where weights are a tenth more than all that may be used", () => {
    const budget = (81559 * 1024 ** 2 - 500 * 1024 ** 2) * 0.9;
    const configText = JSON.stringify(LLAMA_70B);
    expect(found({ configText, weightBytes: Math.floor(budget * 1.1) })[0]?.severity).toBe("warning");
    expect(found({ configText, weightBytes: Math.ceil(budget * 1.1) + 1 })).toEqual([
      {
        severity: "error",
        code: "GPU_MEMORY_TOO_SMALL",
        summary:
          "about 78.4 GiB of weights on each GPU of 79.6 GiB, of which engine.gpuMemoryUtilization takes 0.9",
        change:
          "engine.tensorParallelSize   (more GPUs, larger ones, or a checkpoint that is quantized further)",
        path: "engine.tensorParallelSize",
        retryable: false,
      },
    ]);
  });

  test('"auto" takes what is there', () => {
    expect(found({ maxModelLen: "auto" })[0]?.severity).toBe("note");
  });

  test.each([
    ["weights", { weightBytes: null }],
    ["a model", { configText: null }],
    ["GPUs", { gpus: [] }],
    ["memory of a GPU", { gpus: [{ name: "NVIDIA GB10", memoryTotalMib: 0 }] }],
    ["weights of the dtype they are loaded in", { weightBytes: 32e9 }],
    ["the KV cache's dtype", { kvDtype: null }],
  ])("nothing without %s", (_what, change) => {
    expect(found(change)).toEqual([]);
  });
});

describe("what is kept free", () => {
  const kv = (change: Partial<MemoryQuestion>): number =>
    memoryFit({ ...base, ...change }).kvMemoryBytes ?? NaN;

  test("CUDA graphs count from 0.19 on, unless there are none", () => {
    const graphs = kv({ version: [0, 18] }) - kv({ version: [0, 19] });
    expect(graphs / GIB).toBeCloseTo(0.3, 6);
    expect(kv({ version: [0, 19], isEager: true })).toBe(kv({ version: [0, 18] }));
    expect(kv({ version: null })).toBe(kv({ version: [0, 18] }));
  });

  test("several GPUs need buffers to talk, a smaller step less", () => {
    const ranks = { ...base.parallel, pipeline: 2 };
    const { weightBytesPerGpu } = memoryFit({ ...base, parallel: ranks });
    expect(
      (kv({}) + (base.weightBytes ?? 0) - kv({ parallel: ranks }) - (weightBytesPerGpu ?? 0)) / GIB,
    ).toBeCloseTo(0.7, 6);
    expect(kv({ step: { tokens: null, requests: 16 } })).toBeGreaterThan(kv({}));
  });

  test("given memory is what there is", () => {
    expect(memoryFit({ ...base, kvCacheBytes: 2 * GIB })).toMatchObject({
      kvMemoryBytes: 2 * GIB,
      kvTokens: 16384,
    });
  });
});

describe("weights on one GPU", () => {
  const share = (config: unknown, parallel: Partial<MemoryQuestion["parallel"]>): number => {
    const model = modelFactsOf(JSON.stringify(config));
    return model === null ? NaN : weightShare(model, 1000 * GIB, { ...base.parallel, ...parallel }) / GIB;
  };

  test("tensor parallelism splits them", () => {
    expect(share(LLAMA, { tensor: 8 })).toBe(125);
  });

  test("a stage has its layers, and the embeddings or the output", () => {
    const end = (2 * 128256 * 4096) / GIB;
    expect(share(LLAMA, { pipeline: 2 })).toBeCloseTo((1000 - 2 * end) / 2 + end, 9);
    expect(share(LLAMA, { pipeline: 3 })).toBeCloseTo(((1000 - 2 * end) * 11) / 32 + end, 9);
  });

  test("data parallelism splits experts, and nothing else", () => {
    expect(share(LLAMA, { data: 4 })).toBe(1000);
    const experts = 32 * 128 * 3 * 4096 * 1536;
    const part = experts / (experts + 32 * 4 * 4096 ** 2 + 2 * 128256 * 4096);
    expect(share(QWEN_MOE, { data: 4 })).toBeCloseTo(1000 * (1 - part + part / 4), 9);
    expect(share(QWEN_MOE, { tensor: 4, isExpertParallel: true })).toBe(250);
  });

  test("layers for multi-token prediction are not loaded", () => {
    expect(share({ ...LLAMA, num_nextn_predict_layers: 1 }, {})).toBeCloseTo((1000 * 32) / 33, 9);
  });

  test("MXFP4 is padded", () => {
    expect(share({ ...LLAMA, quantization_config: { quant_method: "mxfp4" } }, {})).toBeCloseTo(
      (1000 * 3072) / 2880,
      9,
    );
  });
});
