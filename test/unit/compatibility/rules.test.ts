import { describe, expect, test } from "vitest";
import { compatibilityFindings } from "../../../provider/src/core/compatibility/findings";
import { GPU_RULES } from "../../../provider/src/core/compatibility/gpu-rules";
import { PARALLEL_RULES } from "../../../provider/src/core/compatibility/parallel-rules";
import { LLAMA, MLA, QWEN_MOE, situation, type Told } from "./situations";

interface Example {
  readonly fires: Told;
  /** All that is found there. */
  readonly found: { readonly severity: string; readonly summary: string; readonly change: string };
  readonly nearMisses: readonly Told[];
}

const fp8 = { quantization_config: { quant_method: "fp8", weight_block_size: [128, 128] } };
const awq = { quantization_config: { quant_method: "awq", group_size: 128, bits: 4 } };
const nvfp4 = { quantization_config: { quant_method: "modelopt", quant_algo: "NVFP4" } };
const gptq = { quantization_config: { quant_method: "gptq", group_size: 128, bits: 4 } };

const EXAMPLES: Readonly<Record<string, Example>> = {
  "no attention backend": {
    fires: { wish: "nvfp4", gpus: ["7.5"] },
    found: {
      severity: "error",
      summary:
        "no attention backend of vLLM 0.32 takes standard attention with a KV cache of nvfp4 on compute capability 7.5",
      change: 'kvCacheDtype: "bfloat16"   (or GPUs of compute capability 8.0 or 8.9 or 9.0 or 10.0 or 12.0)',
    },
    nearMisses: [
      { wish: "nvfp4", gpus: ["12.0"] },
      { wish: "nvfp4", gpus: null },
      { wish: "nvfp4", gpus: ["7.5"], version: null },
      { wish: "nvfp4", gpus: ["7.5"], version: "0.40.0" },
      { wish: "nvfp4", gpus: ["7.5"], config: null },
      { wish: "octave_4bit", gpus: ["7.5"], version: "0.33.0" },
      { wish: "fp8", gpus: ["7.5"] },
      { wish: "fp8", config: { ...LLAMA, model_type: "deepseek_v4" } },
    ],
  },
  "quantization below its compute capability": {
    fires: { config: { ...LLAMA, ...awq }, gpus: ["7.0"] },
    found: {
      severity: "error",
      summary: "vLLM 0.32 loads AWQ from compute capability 7.5 on, found 7.0",
      change: "model   (a checkpoint that is quantized otherwise), or gpus",
    },
    nearMisses: [
      { config: { ...LLAMA, ...awq }, gpus: ["7.5"] },
      { config: { ...LLAMA, ...awq }, gpus: null },
      { config: { ...LLAMA, ...awq }, gpus: ["7.0"], version: null },
      { config: { ...LLAMA, ...awq }, gpus: ["7.0"], quantizationArgument: "moe_wna16" },
      { config: { ...LLAMA, quantization_config: { quant_method: "own" } }, gpus: ["7.0"] },
      { gpus: ["7.0"] },
    ],
  },
  "bfloat16 below 8.0": {
    fires: { gpus: ["9.0", "7.5"], dtypeArgument: "bfloat16" },
    found: {
      severity: "error",
      summary: "bfloat16 needs GPUs of compute capability 8.0 or newer, found 7.5",
      change: 'engine.dtype: "float16"',
    },
    nearMisses: [
      { gpus: ["7.5"] },
      { gpus: ["8.0"], dtypeArgument: "bfloat16" },
      // It may run on the other one.
      { gpus: ["9.0", "7.5"], dtypeArgument: "bfloat16", isOnEachGpu: false },
      { gpus: null, dtypeArgument: "bfloat16" },
    ],
  },
  "NVFP4 experts on a kernel of other GPUs": {
    fires: { config: { ...QWEN_MOE, ...nvfp4 }, gpus: ["12.0"], expertBackend: "flashinfer_trtllm" },
    found: {
      severity: "error",
      summary: "moe-backend flashinfer_trtllm has no NVFP4 experts for compute capability 12.0",
      change:
        'extraArgs["moe-backend"]   ("auto", "flashinfer_cutlass", "cutlass", "flashinfer_b12x", "marlin")',
    },
    nearMisses: [
      { config: { ...QWEN_MOE, ...nvfp4 }, gpus: ["10.3"], expertBackend: "flashinfer_trtllm" },
      { config: { ...QWEN_MOE, ...nvfp4 }, gpus: ["12.0"], expertBackend: "humming" },
      { config: { ...QWEN_MOE, ...nvfp4 }, gpus: null, expertBackend: "flashinfer_trtllm" },
      { config: { ...QWEN_MOE, ...nvfp4 }, gpus: ["12.0"] },
      { config: { ...LLAMA, ...nvfp4 }, gpus: ["12.0"], expertBackend: "flashinfer_trtllm" },
      { config: QWEN_MOE, gpus: ["12.0"], expertBackend: "flashinfer_trtllm" },
      {
        config: {
          ...QWEN_MOE,
          quantization_config: { ...nvfp4.quantization_config, ignore: ["*.experts.*"] },
        },
        gpus: ["12.0"],
        expertBackend: "flashinfer_trtllm",
      },
    ],
  },
  "attention heads": {
    fires: { config: { ...LLAMA, num_attention_heads: 28, num_key_value_heads: 4 }, parallel: { tensor: 8 } },
    found: {
      severity: "error",
      summary: "the model has 28 attention heads, need a multiple of engine.tensorParallelSize 8",
      // 7 would divide the 28 heads, and not the 4 KV heads.
      change: "engine.tensorParallelSize: 4",
    },
    nearMisses: [
      { parallel: { tensor: 8 } },
      {
        config: {
          ...LLAMA,
          num_attention_heads: undefined,
          num_key_value_heads: undefined,
          intermediate_size: undefined,
        },
        parallel: { tensor: 3 },
      },
      { config: null, parallel: { tensor: 3 } },
    ],
  },
  "KV heads": {
    fires: {
      config: { ...LLAMA, num_attention_heads: 24, num_key_value_heads: 8, intermediate_size: 12288 },
      parallel: { tensor: 12 },
    },
    found: {
      severity: "error",
      summary:
        "the model has 8 KV heads, which can be neither split nor repeated evenly over engine.tensorParallelSize 12",
      change: "engine.tensorParallelSize: 8",
    },
    nearMisses: [
      {
        config: { ...LLAMA, num_attention_heads: 24, num_key_value_heads: 4, intermediate_size: 12288 },
        parallel: { tensor: 12 },
      },
      { config: { ...LLAMA, num_key_value_heads: 2 }, parallel: { tensor: 8 } },
      { config: { ...MLA, num_attention_heads: 24, intermediate_size: 12288 }, parallel: { tensor: 12 } },
    ],
  },
  "feed-forward size": {
    fires: { config: { ...LLAMA, intermediate_size: 11004 }, parallel: { tensor: 8 } },
    found: {
      severity: "error",
      summary: "the model's intermediate_size is 11004, need a multiple of engine.tensorParallelSize 8",
      change: "engine.tensorParallelSize: 4",
    },
    nearMisses: [
      { config: { ...LLAMA, intermediate_size: 11008 }, parallel: { tensor: 8 } },
      { config: { ...QWEN_MOE, intermediate_size: 11004 }, parallel: { tensor: 8 } },
      { config: { ...LLAMA, intermediate_size: undefined }, parallel: { tensor: 8 } },
    ],
  },
  "expert size": {
    fires: {
      config: { ...QWEN_MOE, moe_intermediate_size: 1404 },
      parallel: { tensor: 8 },
      version: "0.24.0",
    },
    found: {
      severity: "error",
      summary: "an expert's intermediate size is 1404, need a multiple of engine.tensorParallelSize 8",
      change: "engine.enableExpertParallel: true   (or a smaller engine.tensorParallelSize)",
    },
    nearMisses: [
      { config: QWEN_MOE, parallel: { tensor: 8 } },
      {
        config: { ...QWEN_MOE, moe_intermediate_size: 1404 },
        parallel: { tensor: 8, isExpertParallel: true },
      },
    ],
  },
  "FP8 blocks of experts": {
    fires: { config: { ...QWEN_MOE, ...fp8 }, parallel: { tensor: 8 }, version: "0.20.0" },
    found: {
      severity: "error",
      summary:
        "each GPU gets 192 of an expert's intermediate size, need a multiple of the FP8 block of 128: engine.tensorParallelSize 8",
      change: "engine.enableExpertParallel: true   (or a smaller engine.tensorParallelSize)",
    },
    nearMisses: [
      { config: { ...QWEN_MOE, ...fp8 }, parallel: { tensor: 4 }, version: "0.20.0" },
      {
        config: { ...QWEN_MOE, ...fp8 },
        parallel: { tensor: 8, isExpertParallel: true },
        version: "0.20.0",
      },
      { config: QWEN_MOE, parallel: { tensor: 8 }, version: "0.20.0" },
      {
        config: {
          ...QWEN_MOE,
          quantization_config: { ...fp8.quantization_config, modules_to_not_convert: ["mlp.experts"] },
        },
        parallel: { tensor: 8 },
        version: "0.20.0",
      },
    ],
  },
  "FP8 blocks of feed-forward layers": {
    fires: { config: { ...LLAMA, ...fp8, intermediate_size: 11008 }, parallel: { tensor: 4 } },
    found: {
      severity: "error",
      summary:
        "each GPU gets 2752 of intermediate_size 11008, need a multiple of the FP8 block of 128: engine.tensorParallelSize 4",
      change: "engine.tensorParallelSize: 2",
    },
    nearMisses: [
      { config: { ...LLAMA, ...fp8 }, parallel: { tensor: 4 } },
      { config: { ...LLAMA, ...fp8, intermediate_size: 11008 } },
      { config: { ...LLAMA, intermediate_size: 11008 }, parallel: { tensor: 4 } },
    ],
  },
  "AWQ groups": {
    fires: { config: { ...LLAMA, ...awq, intermediate_size: 18944 }, parallel: { tensor: 8 } },
    found: {
      severity: "error",
      summary:
        "each GPU gets 2368 of intermediate_size 18944, need a multiple of the quantization group of 128: engine.tensorParallelSize 8",
      change: "engine.tensorParallelSize: 4",
    },
    nearMisses: [
      { config: { ...LLAMA, ...awq, intermediate_size: 18944 }, parallel: { tensor: 4 } },
      {
        config: {
          ...LLAMA,
          intermediate_size: 18944,
          quantization_config: { ...awq.quantization_config, group_size: -1 },
        },
        parallel: { tensor: 8 },
      },
    ],
  },
  "GPTQ groups": {
    fires: { config: { ...LLAMA, ...gptq, intermediate_size: 18944 }, parallel: { tensor: 8 } },
    found: {
      severity: "warning",
      summary:
        "each GPU gets 2368 of intermediate_size 18944, need a multiple of the quantization group of 128: engine.tensorParallelSize 8",
      change: "engine.tensorParallelSize: 4",
    },
    nearMisses: [{ config: { ...LLAMA, ...gptq, intermediate_size: 18944 }, parallel: { tensor: 4 } }],
  },
  "expert parallel without experts": {
    fires: { parallel: { isExpertParallel: true } },
    found: {
      severity: "error",
      summary: "engine.enableExpertParallel is for a mixture of experts, and the model has no experts",
      change: "engine.enableExpertParallel: false",
    },
    nearMisses: [
      { config: QWEN_MOE, parallel: { isExpertParallel: true } },
      { config: null, parallel: { isExpertParallel: true } },
      { config: { ...LLAMA, moe_num_experts: [64, 64] }, parallel: { isExpertParallel: true } },
    ],
  },
  "more stages than layers": {
    fires: { parallel: { pipeline: 64 } },
    found: {
      severity: "warning",
      summary: "the model has 32 layers, need at least one for each of 64 pipeline stages",
      change: "engine.pipelineParallelSize: 32   (or less)",
    },
    nearMisses: [{ parallel: { pipeline: 32 } }, { config: null, parallel: { pipeline: 64 } }],
  },
};

const RULES = [...GPU_RULES, ...PARALLEL_RULES];

test("every row has an example, a name of its own and a source", () => {
  expect(Object.keys(EXAMPLES)).toEqual(RULES.map(({ row }) => row));
  for (const { source } of RULES) expect(source).toMatch(/^vLLM \d/);
});

describe.each(Object.entries(EXAMPLES))("%s", (_row, { fires, found, nearMisses }) => {
  test("is found, and nothing else", () => {
    expect(compatibilityFindings(situation(fires))).toEqual([
      { code: "INCOMPATIBLE", path: expect.any(String), ...found },
    ]);
  });

  test.each(nearMisses.map((told) => ({ told })))("is not found: $told", ({ told }) => {
    expect(compatibilityFindings(situation(told))).toEqual([]);
  });

  test("is certain only where vLLM reads what was judged, in a version that was read", () => {
    const weaker = [{ isAsRead: false }, { version: null }, { version: "0.50.0" }];
    for (const change of weaker) {
      const severities = compatibilityFindings(situation({ ...fires, ...change })).map(
        ({ severity }) => severity,
      );
      expect(severities).not.toContain("error");
    }
  });
});
