import type { KvCacheWish } from "../../provider/src/core/kv-cache-situation";
import { DROPPED_METHODS } from "../../provider/src/core/kv-wish-rules-files";

export const BASE: KvCacheWish = {
  wish: "bfloat16",
  vllmVersion: "0.32.0",
  modelDtype: "bfloat16",
  dtypeArgument: null,
  attentionKind: "attention",
};

export function files(config: object, legacy: object | null = null): Pick<KvCacheWish, "files"> {
  return {
    files: {
      "config.json": JSON.stringify(config),
      "hf_quant_config.json": legacy === null ? null : JSON.stringify(legacy),
    },
  };
}

function tensors(scheme: unknown): Pick<KvCacheWish, "files"> {
  return files({ quantization_config: { quant_method: "compressed-tensors", kv_cache_scheme: scheme } });
}

function modelOpt(request: object): Pick<KvCacheWish, "files"> {
  return files({ quantization_config: { quant_method: "modelopt", quant_algo: "FP8", ...request } });
}

function legacy(algorithm: string, producer = "modelopt"): Pick<KvCacheWish, "files"> {
  return files({}, { producer: { name: producer }, quantization: { quant_algo: algorithm } });
}

const FP8 = { num_bits: 8, type: "float", dynamic: false };
const INT8 = { num_bits: 8, type: "int" };
const v32 = files({ architectures: ["DeepseekV32ForCausalLM"] });

/** For each row what it is told for, and what it is not told for though it is near. */
export const EXAMPLES: readonly (readonly [
  row: string,
  told: readonly Partial<KvCacheWish>[],
  silent: readonly Partial<KvCacheWish>[],
])[] = [
  [
    "another 16-bit dtype than the model's",
    [
      { wish: "float16", vllmVersion: "0.33.0" },
      { wish: "float16", vllmVersion: null },
    ],
    [
      { wish: "float16" },
      { vllmVersion: "0.33.0" },
      { wish: "float16", vllmVersion: "0.33.0", dtypeArgument: "half" },
      { wish: "float16", vllmVersion: "0.33.0", modelDtype: "float32" },
    ],
  ],
  [
    "float16 before 0.18",
    [{ wish: "float16", vllmVersion: "0.17.1" }],
    [
      { wish: "float16", vllmVersion: "0.18.0" },
      { wish: "float16", vllmVersion: "0.16.0", modelDtype: "float16" },
    ],
  ],
  [
    "a value of a newer version",
    [
      { wish: "nvfp4", vllmVersion: "0.16.0" },
      { wish: "int8_per_token_head", vllmVersion: "0.16.0" },
    ],
    [{ wish: "fp8_inc", vllmVersion: "0.16.0" }, { wish: "nvfp4" }],
  ],
  [
    "a value that vLLM 0.32 does not know",
    [{ wish: "bf16" }, { wish: "int8", vllmVersion: null }],
    [{ wish: "turboquant_k8v4" }, { wish: "octave_4bit", vllmVersion: "0.33.0" }, { wish: "auto" }],
  ],
  [
    "DeepSeek-V4 on SM9x",
    [{ attentionKind: "deepseek-v4", computeCapabilities: ["9.0", "9.0"] }],
    [
      { attentionKind: "deepseek-v4", computeCapabilities: ["10.0"] },
      { attentionKind: "deepseek-v4", wish: "fp8", computeCapabilities: ["9.0"] },
    ],
  ],
  [
    "DeepSeek-V4",
    [{ attentionKind: "deepseek-v4" }, { attentionKind: "deepseek-v4", computeCapabilities: ["12.0"] }],
    [
      { attentionKind: "deepseek-v4", computeCapabilities: ["9.0"] },
      { attentionKind: "deepseek-v4", wish: "auto" },
    ],
  ],
  [
    "sparse MLA on unknown GPUs",
    [{ attentionKind: "sparse-mla" }, { attentionKind: "sparse-mla", computeCapabilities: [null] }],
    [
      { attentionKind: "sparse-mla", computeCapabilities: ["9.0"] },
      { attentionKind: "sparse-mla", wish: "fp8" },
    ],
  ],
  [
    "DeepSeek-V3.2 on SM12x",
    [{ ...v32, attentionKind: "sparse-mla", computeCapabilities: ["12.0"] }],
    [
      { ...v32, attentionKind: "sparse-mla", computeCapabilities: ["9.0"] },
      { ...v32, attentionKind: "sparse-mla", computeCapabilities: ["12.0", "9.0"] },
      { attentionKind: "sparse-mla", computeCapabilities: ["12.0"] },
    ],
  ],
  [
    "sparse MLA on SM12x",
    [
      { attentionKind: "sparse-mla", computeCapabilities: ["12.0"] },
      { ...v32, wish: "float16", attentionKind: "sparse-mla", computeCapabilities: ["12.1"] },
    ],
    [
      { ...v32, attentionKind: "sparse-mla", computeCapabilities: ["12.0"] },
      { attentionKind: "sparse-mla", wish: "fp8", computeCapabilities: ["12.0"] },
    ],
  ],
  [
    "dense MLA",
    [
      { attentionKind: "dense-mla", wish: "fp8_e5m2" },
      { attentionKind: "dense-mla", wish: "nvfp4" },
    ],
    [
      { attentionKind: "dense-mla", wish: "fp8" },
      { attentionKind: "attention", wish: "fp8_e5m2" },
    ],
  ],
  [
    "sparse MLA",
    [
      { attentionKind: "sparse-mla", wish: "nvfp4" },
      { attentionKind: "sparse-mla", wish: "int8_per_token_head" },
    ],
    [{ attentionKind: "sparse-mla", wish: "fp8_ds_mla" }],
  ],
  [
    "FP8 for MLA below SM8.9",
    [
      { attentionKind: "dense-mla", wish: "fp8", computeCapabilities: ["8.0"] },
      {
        attentionKind: "dense-mla",
        wish: "auto",
        computeCapabilities: ["8.6"],
        ...modelOpt({ kv_cache_scheme: FP8 }),
      },
    ],
    [
      { attentionKind: "dense-mla", wish: "fp8", computeCapabilities: ["8.9"] },
      { attentionKind: "dense-mla", wish: "fp8" },
      { attentionKind: "dense-mla", wish: "auto", computeCapabilities: ["8.0"], ...modelOpt({}) },
    ],
  ],
  [
    "FP8 for MLA before 0.18",
    [
      { attentionKind: "dense-mla", wish: "fp8", vllmVersion: "0.16.0", computeCapabilities: ["12.0"] },
      {
        attentionKind: "dense-mla",
        wish: "auto",
        vllmVersion: "0.16.0",
        computeCapabilities: ["12.0"],
        ...files({}, { quantization: { quant_algo: "NVFP4", kv_cache_quant_algo: "FP8" } }),
      },
    ],
    [
      { attentionKind: "dense-mla", wish: "fp8", vllmVersion: "0.18.0", computeCapabilities: ["12.0"] },
      { attentionKind: "dense-mla", wish: "fp8", vllmVersion: "0.16.0", computeCapabilities: ["9.0"] },
    ],
  ],
  [
    "an INT8 or other scheme of compressed-tensors",
    [
      { wish: "auto", ...tensors(INT8) },
      { wish: "fp8", ...tensors({ num_bits: 4, type: "float" }) },
      { wish: "fp8", ...tensors({}) },
    ],
    [
      { ...tensors(null) },
      { wish: "auto", ...tensors(FP8) },
      { wish: "auto", vllmVersion: "0.16.0", ...tensors(INT8) },
      { wish: "auto", attentionKind: "dense-mla", ...tensors(INT8) },
    ],
  ],
  [
    "fp8_e5m2 beside a scheme",
    [{ wish: "fp8_e5m2", ...tensors(FP8) }],
    [
      { wish: "fp8_e5m2", ...tensors(null) },
      { wish: "fp8_e4m3", ...tensors(FP8) },
    ],
  ],
  [
    "fp8_e5m2 on a checkpoint with scales",
    [
      { wish: "fp8_e5m2", ...modelOpt({}) },
      { wish: "fp8_e5m2", ...files({ quantization_config: { quant_method: "fp8" } }) },
    ],
    [{ wish: "fp8_e5m2", ...files({ quantization_config: { quant_method: "awq" } }) }],
  ],
  [
    "Qwen4Exp beside a scheme",
    [
      {
        wish: "fp8",
        ...files({
          architectures: ["Qwen4ExpForCausalLM"],
          quantization_config: { quant_method: "compressed-tensors", kv_cache_scheme: FP8 },
        }),
      },
    ],
    [
      { wish: "fp8", ...tensors(FP8) },
      { wish: "fp8", ...files({ architectures: ["Qwen4ExpForCausalLM"] }) },
    ],
  ],
  [
    "a request that vLLM does not know",
    [
      { wish: "auto", ...modelOpt({ kv_cache_scheme: "static" }) },
      { wish: "auto", ...modelOpt({ kv_cache_quant_algo: "INT8" }) },
      { wish: "auto", ...modelOpt({ kv_cache_scheme: INT8 }) },
    ],
    [
      { wish: "auto", ...modelOpt({ kv_cache_scheme: "", kv_cache_quant_algo: "fp8" }) },
      { wish: "auto", ...modelOpt({ kv_cache_scheme: { num_bits: 4, type: "float" } }) },
      { wish: "fp8", ...modelOpt({ kv_cache_scheme: "static" }) },
      {
        wish: "auto",
        ...files({
          text_config: { quantization_config: { quant_method: "modelopt", kv_cache_scheme: "static" } },
        }),
      },
    ],
  ],
  [
    "an NVFP4 request before 0.17",
    [{ wish: "auto", vllmVersion: "0.16.0", ...modelOpt({ kv_cache_scheme: "NVFP4" }) }],
    [{ wish: "auto", ...modelOpt({ kv_cache_scheme: "NVFP4" }) }],
  ],
  [
    "a dropped quantization method",
    DROPPED_METHODS.map((quant_method) => files({ quantization_config: { quant_method } })),
    [
      { vllmVersion: "0.16.0", ...files({ quantization_config: { quant_method: "bitsandbytes" } }) },
      files({ quantization_config: { quant_method: "awq" } }),
    ],
  ],
  [
    "mixed precision in ModelOpt's first form",
    [legacy("MIXED_PRECISION")],
    [{ vllmVersion: "0.33.0", ...legacy("mixed_precision") }, legacy("NVFP4")],
  ],
  [
    "another algorithm in ModelOpt's first form",
    [legacy("W4A16_NVFP4"), { vllmVersion: "0.33.0", ...legacy("MXFP8") }],
    [legacy("FP8"), legacy("MIXED_PRECISION"), legacy("MXFP8", "somebody")],
  ],
];
