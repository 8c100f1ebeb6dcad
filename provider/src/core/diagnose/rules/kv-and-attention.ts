import type { CauseRule } from "../rule";
import { error, hint, proof, symptom } from "../signs";

/** "Reasons: {TRITON_MLA: [kv_cache_dtype not supported], ...}": is there a backend that only the KV dtype keeps out? */
function onlyKvDtypeBlocks(text: string): boolean {
  return [...text.matchAll(/\w+: \[([^\]]*)\]/g)].some(
    (match) => match[1]?.trim() === "kv_cache_dtype not supported",
  );
}

/** Source of meanings: the closed list; of wordings: vllm 0.8 to 0.33. */
export const KV_AND_ATTENTION_RULES: readonly CauseRule[] = [
  {
    cause: "KV_DTYPE_UNSUPPORTED_BY_BACKEND",
    summary: [
      "no attention backend of this vLLM takes a KV cache of {kvCacheDtype} with this model and hardware",
      "the attention backend of this vLLM does not take the KV cache dtype that was asked for (by kvCacheDtype or by the checkpoint)",
    ],
    change: [
      'kvCacheDtype: "bfloat16" (--kv-cache-dtype bfloat16; it also nulls kv_cache_quant_algo and kv_cache_scheme of the checkpoint), or vllm.version newer (for MLA 0.18 or later)',
    ],
    context: ["kvCacheDtype"],
    signs: [
      proof(
        /No valid attention backend found .*kv_cache_dtype=(?<kvCacheDtype>\w+)/,
        "vllm 0.14.0 platforms/cuda.py",
        {
          accepts: (match) => onlyKvDtypeBlocks(match.input),
        },
      ),
      proof(
        /with FP8 KV cache not (?:yet )?supported/,
        "vllm 0.16.0 v1/attention/backends/mla/triton_mla.py",
      ),
      proof(/FP8 KV cache on CPU requires/, "vllm 0.32.0 v1/attention/backends/cpu_attn.py"),
      proof(/FP8 KV cache is not yet supported/, "vllm 0.32.0 platforms/cpu.py"),
      proof(/FP8 KV cache requires head_size divisible by/, "vllm 0.32.0 v1/attention/backends/cpu_attn.py"),
      proof(/does not support fp8 kv-cache/, "vllm 0.8 v1/attention/backends/flash_attn.py"),
      proof(/nvfp4 KV cache is not supported with MLA/, "vllm 0.32.0 config/vllm.py"),
      proof(
        /only supports? fp8 kv-cache(?: format)?, got (?<kvCacheDtype>\w+)/,
        "vllm 0.32.0 models/deepseek_v4/attention.py",
      ),
      proof(
        /--kv-cache-dtype (?<kvCacheDtype>\w+) requires the/,
        "vllm 0.32.0 v1/attention/backends/flashinfer.py:843",
      ),
      proof(
        /only supports an unquantized \(bf16\) KV cache/,
        "vllm 0.32.0 v1/attention/backends/mla/amx_mla.py",
      ),
      error(
        /[Uu]nsupported (?:kv_cache_dtype|KV cache dtype|kv cache dtype)/,
        "vllm 0.8 to 0.33, several backends",
      ),
      error(/fp8 kv.cache is not supported/, "vllm 0.6 to 0.10, several backends"),
      error(/is not supported with --kv-cache-dtype/, "vllm 0.8 engine/arg_utils.py"),
      error(/Unrecognized FP8 dtype: (?<kvCacheDtype>\w+)/, "vllm 0.8 v1/attention/backends"),
      hint(
        /^Using (?<kvCacheDtype>fp8\w*|nvfp4) data type to store kv cache/,
        "vllm 0.8 to 0.33 config/cache.py",
      ),
    ],
  },
  {
    cause: "KV_DTYPE_UNSUPPORTED_BY_GPU",
    summary: ["this GPU cannot compute an fp8 KV cache of that format"],
    change: [
      'kvCacheDtype: "auto" or "bfloat16" (--kv-cache-dtype auto/bfloat16; "fp8_e5m2" where the GPU has only that)',
    ],
    signs: [
      proof(/type fp8e4nv not supported in this architecture/, "triton; vllm-project/vllm#26431"),
      proof(
        /FP8 KV cache is not supported by the Triton/,
        "vllm 0.32.0 v1/attention/backends/mla/triton_mla.py",
      ),
      proof(/requires \.target sm_89 or higher/, "ptxas"),
    ],
  },
  {
    cause: "KV_DTYPE_CONFLICTS_WITH_CHECKPOINT",
    summary: ["the KV cache dtype is refused for this kind of checkpoint"],
    change: ['kvCacheDtype: "auto", or the 16-bit dtype of the model (--kv-cache-dtype)'],
    signs: [
      proof(
        /fp8_e5m2 kv-cache is not supported with (?:fp8 checkpoints|checkpoint KV scales)/,
        "vllm 0.5 to 0.33 model_executor/layers/attention/attention.py; 1CatAI/1Cat-vLLM#489",
      ),
      proof(/kv_cache_dtype=\S+ is incompatible with dtype=/, "vllm 0.33.0 config/vllm.py:1492"),
      proof(/Currently supported kv cache quantization is/, "vllm 0.32.0 compressed_tensors.py, quark.py"),
      proof(/ for compressed-tensors KV cache/, "vllm 0.32.0 compressed_tensors.py"),
      proof(/The kv_cache quantization configuration is empty/, "vllm 0.32.0 quark.py"),
      proof(
        /Only support per-tensor scaling factor ?for (?:fp8 KV cache|quark KV cache)/,
        "vllm 0.32.0 kv_cache.py, quark.py",
      ),
    ],
  },
  {
    cause: "ATTENTION_BACKEND_NONE_VALID",
    summary: ["no attention backend of this vLLM serves this model on this GPU"],
    change: [
      "vllm.version: another (0.33 knows most backends), another GPU, or another model; no memory setting helps (engine.attentionBackend, --attention-backend, cannot either)",
    ],
    signs: [
      proof(/No valid attention backend found/, "vllm 0.14.0 to 0.33.0 platforms/cuda.py:471, rocm.py:823", {
        accepts: (match) => !onlyKvDtypeBlocks(match.input),
      }),
      error(/No valid attention backend from priority list/, "vllm 0.13 platforms/cuda.py"),
      error(/Head size \d+ is not supported by/, "vllm 0.8 v1/attention/backends"),
      error(/Head dimension \d+ is not supported by MLA/, "vllm 0.32.0 mla_attention.py"),
      error(/FlashAttention (?:forward )?only supports (?:head dimension|Ampere GPUs)/, "flash-attn 2"),
      error(/Sinks are only supported in/, "vllm 0.10 v1/attention/backends/flash_attn.py"),
    ],
  },
  {
    cause: "ATTENTION_BACKEND_INVALID",
    summary: ["the attention backend that was chosen cannot serve this model on this GPU"],
    change: [
      "engine.attentionBackend (--attention-backend; before 0.13 environment.VLLM_ATTENTION_BACKEND): leave it out or choose another, for sparse MLA FLASHMLA_SPARSE; or vllm.version newer",
    ],
    signs: [
      proof(/Selected backend .* is not valid for this configuration/, "vllm 0.11 to 0.33 platforms/cuda.py"),
      proof(
        / is not valid for this configuration/,
        "vllm 0.32.0 v1/attention/backends/mla/prefill/selector.py:102",
      ),
      proof(/Invalid attention backend for/, "vllm 0.32.0 v1/attention/selector.py:222, platforms/xpu.py"),
      proof(/Attention backend 'XFORMERS' has been removed/, "vllm 0.32.0 config/multimodal.py"),
      proof(/Invalid attention backend: /, "vllm 0.8 to 0.12"),
      proof(/Unknown attention backend: /, "vllm 0.11 to 0.33 attention registry"),
      proof(/Invalid value '\w+' for VLLM_ATTENTION_BACKEND/, "vllm 0.11 envs.py"),
      proof(/backend cannot be used because/, "vllm 0.9 to 0.12 platforms/cuda.py"),
      error(/attention backend is not supported/, "vllm 0.8 platforms"),
      error(/does not support block_size/, "vllm 0.11 v1/attention"),
    ],
  },
  {
    cause: "MOE_BACKEND_NONE_VALID",
    summary: ["no mixture-of-experts kernel of this vLLM serves this quantization on this GPU"],
    change: [
      'vllm.version: a newer one, with its FlashInfer; extraArgs["moe-backend"] (--moe-backend); or a checkpoint with another quantization (FP8, BF16)',
    ],
    signs: [
      proof(/No \w+ MoE backend supports the deployment configuration/, "vllm 0.16 to 0.33 fused_moe/oracle"),
      proof(/No \w+ MoE backends? (?:available|found)/, "vllm 0.32.0 fused_moe/oracle/mxfp8.py"),
      proof(/MoE backend .* does not support the deployment configuration/, "vllm 0.16 fused_moe/oracle"),
      proof(/ does not support this MoE deployment/, "vllm 0.32.0 fused_moe/oracle/mxfp4.py"),
      proof(/moe_backend=\S+ is not supported for/, "vllm 0.32.0 fused_moe/oracle"),
      error(/Unsupported \w+ MoE backend/, "vllm 0.32.0 fused_moe/oracle"),
      symptom(/No supported (?:MoE|kernel|tactic)/, "flashinfer; vllm 0.11"),
    ],
  },
  {
    cause: "KV_PAGE_SIZES_DIFFER",
    summary: ["the layers of this model need KV cache pages of sizes that this vLLM cannot make one"],
    change: [
      'vllm.version: another (newer) one; kvCacheDtype: "auto" (--kv-cache-dtype auto); environment.VLLM_PP_LAYER_PARTITION left out',
    ],
    signs: [
      proof(
        /page size of the layer is not divisible by the maximum page size/,
        "vllm 0.11 to 0.33 v1/core/kv_cache_utils.py; vllm-project/vllm#38979",
      ),
    ],
  },
  {
    cause: "KERNEL_RESOURCES_EXCEEDED",
    summary: [
      "a Triton kernel needs {requiredBytes} bytes of shared memory and this GPU has {limitBytes}",
      "a Triton kernel needs more of a resource than this GPU has",
    ],
    change: [
      "engine.attentionBackend (--attention-backend), engine.dtype (--dtype), engine.tensorParallelSize (--tensor-parallel-size) or engine.enableExpertParallel (--enable-expert-parallel): change one; or a vLLM version tuned for this GPU",
    ],
    signs: [
      proof(
        /out of resource: shared memory, Required: (?<requiredBytes>\d+), Hardware limit: (?<limitBytes>\d+)/,
        "triton runtime/errors.py",
      ),
      proof(
        /out of resource: \w+, Required: (?<requiredBytes>\d+), Hardware limit: (?<limitBytes>\d+)/,
        "triton runtime/errors.py",
      ),
      error(/too many resources requested for launch/, "CUDA error 701"),
    ],
  },
];
