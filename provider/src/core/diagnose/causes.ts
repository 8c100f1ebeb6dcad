/**
 * The closed list of causes of a failed vLLM start (or death), in the groups the rules are kept in.
 * What each one means and what to change stands in cause-facts.ts.
 */
export const FAILURE_CAUSES = [
  // Attention, KV-cache type, kernels
  "KV_DTYPE_UNSUPPORTED_BY_BACKEND",
  "KV_DTYPE_UNSUPPORTED_BY_GPU",
  "KV_DTYPE_CONFLICTS_WITH_CHECKPOINT",
  "ATTENTION_BACKEND_NONE_VALID",
  "ATTENTION_BACKEND_INVALID",
  "MOE_BACKEND_NONE_VALID",
  "KERNEL_RESOURCES_EXCEEDED",
  // Memory
  "GPU_OOM_STARTUP",
  "GPU_OOM_RUNTIME",
  "MAX_NUM_SEQS_TOO_HIGH",
  "KV_CACHE_NO_MEMORY",
  "KV_CACHE_TOO_SMALL_FOR_MODEL_LEN",
  "GPU_MEMORY_TAKEN",
  "GPU_MEMORY_CHANGED_DURING_PROFILING",
  "HOST_OOM_KILLED",
  // Limits and flags
  "MAX_MODEL_LEN_EXCEEDS_MODEL",
  "BATCHED_TOKENS_TOO_SMALL",
  "SPEC_CONFIG_INVALID",
  "LORA_RANK_TOO_HIGH",
  "LORA_ADAPTER_NOT_FOUND",
  "RUNNER_MISMATCH",
  "TOOL_PARSER_UNKNOWN",
  "CHAT_TEMPLATE_NOT_FOUND",
  "UNKNOWN_ARGUMENT",
  "ARGUMENT_VALUE_INVALID",
  "ALLOC_CONF_CONFLICT",
  // Ports, sockets, descriptors
  "PORT_IN_USE",
  "INTERNAL_PORT_IN_USE",
  "VLLM_PORT_IS_URI",
  "IPC_PATH_TOO_LONG",
  "OPEN_FILES_LIMIT",
  // Hub and files
  "HUB_REPO_NOT_FOUND",
  "HUB_GATED",
  "HUB_REVISION_NOT_FOUND",
  "HUB_OFFLINE_MISSING",
  "HUB_UNREACHABLE",
  "HUB_RATE_LIMITED",
  "HARMONY_VOCAB_UNAVAILABLE",
  "MODEL_PATH_INVALID",
  "DISK_FULL",
  "CACHE_NOT_WRITABLE",
  "USER_ID_UNKNOWN",
  "CHECKPOINT_FILE_CORRUPT",
  "WEIGHTS_MISSING",
  "CHECKPOINT_MODEL_MISMATCH",
  // Model support
  "TRANSFORMERS_TOO_OLD",
  "TRANSFORMERS_TOO_NEW",
  "MODEL_CONFIG_INVALID",
  "ARCH_UNSUPPORTED",
  "GGUF_ARCH_UNSUPPORTED",
  "TRUST_REMOTE_CODE_REQUIRED",
  // Quantization, dtype, parallel sizes
  "QUANT_MISMATCH",
  "QUANT_UNSUPPORTED_BY_GPU",
  "QUANT_SHARD_NOT_DIVISIBLE",
  "DTYPE_UNSUPPORTED_BY_GPU",
  "DTYPE_UNSUPPORTED_BY_QUANT",
  "PARALLEL_SIZE_NOT_DIVISOR",
  "WORLD_SIZE_EXCEEDS_GPUS",
  // Toolchain and Python environment
  "NVCC_NOT_FOUND",
  "NVCC_TOO_OLD",
  "NINJA_NOT_FOUND",
  "C_COMPILER_NOT_FOUND",
  "PYTHON_HEADERS_MISSING",
  "PTXAS_TOO_OLD",
  "COMPILE_CACHE_CORRUPT",
  "LIBRARY_MISSING",
  "EXTENSION_ABI_MISMATCH",
  "GLIBC_TOO_OLD",
  "PYTHON_PACKAGE_CONFLICT",
  "OPTIONAL_PACKAGE_MISSING",
  // GPU and driver
  "DRIVER_TOO_OLD",
  "NO_GPU_VISIBLE",
  "GPU_ARCH_NOT_IN_BUILD",
  "FABRIC_MANAGER_DOWN",
  "GPU_BUSY",
  "GPU_HARDWARE_ERROR",
  "GPU_UUID_UNSUPPORTED",
  // Distributed
  "SHM_TOO_SMALL",
  "NCCL_FAILED",
  "CUSTOM_ALLREDUCE_FAILED",
  "GLOO_INTERFACE",
  "RAY_RESOURCES",
  "KV_CONNECTOR_FAILED",
  // Life cycle
  "ENGINE_READY_TIMEOUT",
  "ENGINE_STEP_TIMEOUT",
  "CUDA_ILLEGAL_ACCESS",
  "TERMINATED_BY_SIGNAL",
  "NO_FAILURE",
] as const;

export type FailureCause = (typeof FAILURE_CAUSES)[number];

/** Whether a text (from the wire or from state) is one of the closed list. */
export function isFailureCause(text: string): text is FailureCause {
  return FAILURE_CAUSES.some((cause) => cause === text);
}

export interface CauseFact {
  /** One sentence, as a user reads it. */
  readonly meaning: string;
  /** What to change, in vLLM's own words (flags, environment variables, host actions). */
  readonly change: string;
}
