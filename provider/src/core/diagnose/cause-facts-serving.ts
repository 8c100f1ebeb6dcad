import type { CauseFact, FailureCause } from "./causes";

/** Causes that lie in what was asked of vLLM: model, limits, flags, memory. */
export const SERVING_CAUSES = {
  KV_DTYPE_UNSUPPORTED_BY_BACKEND: {
    meaning:
      "The KV-cache dtype (asked by flag or by the checkpoint) is not implemented by any usable attention backend",
    change:
      "--kv-cache-dtype (bfloat16/auto), or null kv_cache_quant_algo / kv_cache_scheme in the checkpoint config, or a newer vLLM",
  },
  KV_DTYPE_UNSUPPORTED_BY_GPU: {
    meaning: "The GPU generation cannot compute the requested fp8 KV format",
    change: "--kv-cache-dtype bfloat16/auto (or fp8_e5m2 where the GPU has only that)",
  },
  KV_DTYPE_CONFLICTS_WITH_CHECKPOINT: {
    meaning: "The KV-cache dtype is refused for this kind of quantized checkpoint",
    change: "--kv-cache-dtype",
  },
  ATTENTION_BACKEND_NONE_VALID: {
    meaning:
      "No attention backend supports the model features (sparse MLA, head size, sinks ...) on this GPU",
    change: "other GPU or model; vLLM version; not a memory flag",
  },
  ATTENTION_BACKEND_INVALID: {
    meaning:
      "The attention backend that was chosen (by flag, env or by vLLM itself) cannot serve this model/GPU",
    change: "--attention-backend / VLLM_ATTENTION_BACKEND (drop or change), or vLLM version",
  },
  MOE_BACKEND_NONE_VALID: {
    meaning: "No MoE kernel backend supports the quantization and activation on this GPU",
    change: "vLLM/flashinfer version, --moe-backend, or another checkpoint",
  },
  KV_PAGE_SIZES_DIFFER: {
    meaning: "The layers of the model need pages of KV cache whose sizes this vLLM cannot make one",
    change: "vLLM version; --kv-cache-dtype auto; VLLM_PP_LAYER_PARTITION unset",
  },
  KERNEL_RESOURCES_EXCEEDED: {
    meaning: "A Triton kernel needs more shared memory than the GPU has",
    change: "--attention-backend / --dtype / parallel sizes / vLLM version for that GPU",
  },
  GPU_OOM_STARTUP: {
    meaning: "CUDA out of memory while loading weights or profiling",
    change: "--tensor-parallel-size up, --max-model-len / --max-num-batched-tokens down, smaller checkpoint",
  },
  GPU_OOM_RUNTIME: {
    meaning: "CUDA out of memory after the server was ready",
    change: "--gpu-memory-utilization down, --max-num-seqs / --max-num-batched-tokens down",
  },
  MAX_NUM_SEQS_TOO_HIGH: {
    meaning: "max_num_seqs does not fit (sampler warm-up OOM, or more sequences than Mamba cache blocks)",
    change: "--max-num-seqs",
  },
  KV_CACHE_NO_MEMORY: {
    meaning: "Weights and activations already use the whole memory budget; nothing left for KV cache",
    change:
      "--gpu-memory-utilization up, --tensor-parallel-size up, or smaller checkpoint; on CPU VLLM_CPU_KVCACHE_SPACE down",
  },
  KV_CACHE_TOO_SMALL_FOR_MODEL_LEN: {
    meaning: "KV cache is smaller than one request of max_model_len",
    change: "--max-model-len (to the suggested value) or --gpu-memory-utilization / TP",
  },
  GPU_MEMORY_TAKEN: {
    meaning: "Free GPU memory at start is below gpu_memory_utilization because somebody else holds it",
    change: "stop the other process (host action) or lower --gpu-memory-utilization",
  },
  GPU_MEMORY_CHANGED_DURING_PROFILING: {
    meaning: "Another process freed GPU memory while vLLM profiled",
    change: "serialise starts on the GPU; retry",
  },
  HOST_OOM_KILLED: {
    meaning: "A vLLM process was killed by the kernel OOM killer (host RAM / cgroup limit)",
    change: "more host RAM or container memory limit; MAX_JOBS; fewer offload GB",
  },
  MAX_MODEL_LEN_EXCEEDS_MODEL: {
    meaning: "max_model_len is above what the model config allows",
    change: "--max-model-len (or rope override / VLLM_ALLOW_LONG_MAX_MODEL_LEN=1)",
  },
  BATCHED_TOKENS_TOO_SMALL: {
    meaning: "max_num_batched_tokens is below what max_model_len or the hybrid block size needs",
    change: "--max-num-batched-tokens (or chunked prefill on)",
  },
  SPEC_CONFIG_INVALID: {
    meaning: "The speculative decoding configuration is not acceptable",
    change: "--speculative-config",
  },
  LORA_RANK_TOO_HIGH: {
    meaning: "Adapter rank is above max_lora_rank",
    change: "--max-lora-rank",
  },
  LORA_ADAPTER_NOT_FOUND: {
    meaning: "The LoRA path/name given does not hold an adapter",
    change: "--lora-modules",
  },
  RUNNER_MISMATCH: {
    meaning: "The model cannot be run with the requested runner (generate vs pooling)",
    change: "--runner / --convert",
  },
  TOOL_PARSER_UNKNOWN: {
    meaning: "Tool or reasoning parser name is unknown to this vLLM version",
    change: "--tool-call-parser / --reasoning-parser or vLLM version",
  },
  CHAT_TEMPLATE_NOT_FOUND: {
    meaning: "The chat template path does not exist",
    change: "--chat-template",
  },
  UNKNOWN_ARGUMENT: {
    meaning: "A command line flag does not exist in this vLLM version (or is misplaced)",
    change: "remove or rename the flag",
  },
  ARGUMENT_VALUE_INVALID: {
    meaning: "A flag value cannot be parsed (broken JSON quoting, wrong type)",
    change: "quote the JSON value correctly (or pass it by YAML config)",
  },
  ALLOC_CONF_CONFLICT: {
    meaning: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments clashes with the requested memory pool",
    change: "unset expandable_segments in the environment, or drop --enable-sleep-mode",
  },
  TRANSFORMERS_TOO_OLD: {
    meaning: "The installed transformers does not know the model type or tokenizer class",
    change: "upgrade transformers / vLLM",
  },
  TRANSFORMERS_TOO_NEW: {
    meaning: "The installed transformers is newer than this vLLM supports",
    change: "pin transformers (<5) or upgrade vLLM",
  },
  MODEL_CONFIG_INVALID: {
    meaning: "config.json has a field this stack rejects (rope_scaling ...)",
    change: "configOverrides / --hf-overrides, or versions",
  },
  ARCH_UNSUPPORTED: {
    meaning: "This vLLM version has no implementation of the architecture",
    change: "vLLM version / plugin / other model",
  },
  GGUF_ARCH_UNSUPPORTED: {
    meaning: "The GGUF architecture cannot be read",
    change: "use a safetensors checkpoint",
  },
  TRUST_REMOTE_CODE_REQUIRED: {
    meaning: "The repository needs its own Python code",
    change: "--trust-remote-code",
  },
  QUANT_MISMATCH: {
    meaning: "--quantization differs from the checkpoint",
    change: "--quantization (drop it)",
  },
  QUANT_METHOD_UNKNOWN: {
    meaning: "This vLLM does not know the quantization method of the checkpoint",
    change: "vLLM version, a plugin that has the method, or another checkpoint",
  },
  QUANT_KERNEL_NONE_VALID: {
    meaning:
      "No kernel of this vLLM takes a quantized layer of this type, group size or shape on this platform",
    change: "another checkpoint; vLLM version",
  },
  QUANT_UNSUPPORTED_BY_GPU: {
    meaning: "The quantization needs a newer GPU",
    change: "other checkpoint or GPU",
  },
  QUANT_SHARD_NOT_DIVISIBLE: {
    meaning: "A quantized shard is not a multiple of the quantization block",
    change: "--tensor-parallel-size (smaller) or --enable-expert-parallel",
  },
  DTYPE_UNSUPPORTED_BY_GPU: {
    meaning: "bfloat16 on a GPU without it",
    change: "--dtype half",
  },
  DTYPE_UNSUPPORTED_BY_QUANT: {
    meaning: "The activation dtype is not supported by the quantization method",
    change: "--dtype / other checkpoint",
  },
  PARALLEL_SIZE_NOT_DIVISOR: {
    meaning: "Heads or experts are not divisible by the parallel size",
    change: "--tensor-parallel-size",
  },
  WORLD_SIZE_EXCEEDS_GPUS: {
    meaning: "More ranks than visible GPUs on the node",
    change:
      "--tensor-parallel-size / --pipeline-parallel-size / --distributed-executor-backend / CUDA_VISIBLE_DEVICES",
  },
} as const satisfies Partial<Record<FailureCause, CauseFact>>;
