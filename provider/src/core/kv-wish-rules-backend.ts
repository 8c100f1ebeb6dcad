import { isBefore, type KvSituation, modelOptRequest, type Version } from "./kv-cache-situation";
import type { KvWishRule } from "./kv-wish-rule";
import { isSixteenBit } from "./model-config";

/** What any MLA backend of vLLM 0.32.0 takes; the sparse ones also take DeepSeek's own layouts. Source: supported_kv_cache_dtypes of v1/attention/backends/mla. */
const DENSE_MLA_DTYPES = ["auto", "float16", "bfloat16", "fp8", "fp8_e4m3"];
const SPARSE_MLA_DTYPES = [...DENSE_MLA_DTYPES, "fp8_ds_mla", "nvfp4_ds_mla"];

/** Every GPU is known, and all of them are so. */
function isEachGpu({ capabilities }: KvSituation, test: (capability: Version) => boolean): boolean {
  return capabilities.length > 0 && capabilities.every(test);
}

/** An fp8 KV cache, by wish or by what auto finds in the files. */
function isFp8(situation: KvSituation): boolean {
  const { wish } = situation;
  return wish === "auto" ? modelOptRequest(situation) === "fp8" : wish === "fp8" || wish === "fp8_e4m3";
}

export const DECIDED_BY_BACKEND: readonly KvWishRule[] = [
  {
    row: "DeepSeek-V4 on SM9x",
    code: "kv-dtype-not-supported",
    holds: (situation) =>
      situation.attentionKind === "deepseek-v4" &&
      isSixteenBit(situation.wish) &&
      isEachGpu(situation, ([major]) => major < 10),
    message: "DeepSeek-V4 has a 16-bit KV cache on SM10x and SM12x GPUs only: vLLM refuses it on these",
    fails: { since: [0, 32], before: [0, 34] },
    change: 'kvCacheDtype: "auto"',
    source: "vllm 0.32.0 models/deepseek_v4/attention.py:94, nvidia/flashmla.py (fp8_ds_mla only)",
  },
  {
    row: "DeepSeek-V4",
    code: "kv-dtype-decided-by-model",
    holds: (situation) =>
      situation.attentionKind === "deepseek-v4" &&
      isSixteenBit(situation.wish) &&
      !isEachGpu(situation, ([major]) => major < 10),
    message:
      "DeepSeek-V4 chooses its KV cache dtype itself: only its FlashInfer backend (SM10x, SM12x) takes a 16-bit one",
    source: "vllm 0.32.0 models/deepseek_v4/attention.py:108",
  },
  {
    row: "sparse MLA on unknown GPUs",
    code: "kv-dtype-decided-by-model",
    holds: ({ attentionKind, wish, capabilities, isCpuBuild }) =>
      attentionKind === "sparse-mla" && isSixteenBit(wish) && capabilities.length === 0 && !isCpuBuild,
    message:
      "sparse MLA stores fp8_ds_mla on SM12x GPUs whatever is asked: a start there ends with an error, and the server is stopped",
    source: "vllm 0.32.0 model_executor/models/config.py:38, layers/attention/mla_attention.py:358",
  },
  {
    row: "DeepSeek-V3.2 on SM12x",
    code: "kv-dtype-decided-by-model",
    holds: (situation) =>
      situation.architecture === "DeepseekV32ForCausalLM" &&
      situation.wish === "bfloat16" &&
      isEachGpu(situation, ([major]) => major === 12),
    message:
      "DeepSeek-V3.2 stores fp8_ds_mla on SM12x GPUs whatever is asked: no 16-bit KV cache can be had there",
    source:
      "vllm 0.32.0 model_executor/models/config.py:38 (bfloat16 becomes auto), layers/attention/mla_attention.py:358 (auto becomes fp8_ds_mla)",
  },
  {
    row: "sparse MLA on SM12x",
    code: "kv-dtype-not-supported",
    holds: (situation) =>
      situation.attentionKind === "sparse-mla" &&
      isSixteenBit(situation.wish) &&
      !(situation.architecture === "DeepseekV32ForCausalLM" && situation.wish === "bfloat16") &&
      isEachGpu(situation, ([major]) => major === 12),
    message: "no attention backend of SM12x GPUs takes a 16-bit KV cache for sparse MLA: the start will fail",
    fails: { since: [0, 32], before: [0, 34] },
    change: 'kvCacheDtype: "auto"',
    source: "vllm 0.32.0 v1/attention/backends/mla/flashinfer_mla_sparse.py, platforms/cuda.py:83",
  },
  {
    row: "dense MLA",
    code: "kv-dtype-not-supported",
    holds: ({ attentionKind, wish }) => attentionKind === "dense-mla" && !DENSE_MLA_DTYPES.includes(wish),
    message: `no MLA backend takes this KV cache dtype: they take ${DENSE_MLA_DTYPES.join(", ")}`,
    fails: { since: [0, 16], before: [0, 34] },
    source: "vllm 0.32.0 supported_kv_cache_dtypes of v1/attention/backends/mla",
  },
  {
    row: "sparse MLA",
    code: "kv-dtype-not-supported",
    holds: ({ attentionKind, wish }) => attentionKind === "sparse-mla" && !SPARSE_MLA_DTYPES.includes(wish),
    message: `no sparse MLA backend takes this KV cache dtype: they take ${SPARSE_MLA_DTYPES.join(", ")}`,
    fails: { since: [0, 32], before: [0, 34] },
    source: "vllm 0.32.0 supported_kv_cache_dtypes of v1/attention/backends/mla",
  },
  {
    row: "FP8 for MLA below SM8.9",
    code: "kv-dtype-not-supported",
    holds: (situation) =>
      situation.attentionKind === "dense-mla" &&
      isFp8(situation) &&
      isEachGpu(situation, (capability) => isBefore(capability, [8, 9])),
    message: "TRITON_MLA, the only MLA backend of these GPUs, takes an FP8 KV cache from SM8.9 on",
    fails: { since: [0, 16], before: [0, 34] },
    source: "vllm 0.32.0 v1/attention/backends/mla/triton_mla.py",
  },
  {
    row: "FP8 for MLA before 0.18",
    code: "kv-dtype-not-supported",
    holds: (situation) =>
      situation.attentionKind === "dense-mla" &&
      isFp8(situation) &&
      isBefore(situation.version, [0, 18]) &&
      isEachGpu(situation, ([major]) => major === 8 || major === 12),
    message: "TRITON_MLA, the only MLA backend of these GPUs, takes no FP8 KV cache before vLLM 0.18",
    fails: { since: [0, 11], before: [0, 18] },
    source: "vllm 0.16.0 v1/attention/backends/mla/triton_mla.py, platforms/cuda.py",
  },
];
