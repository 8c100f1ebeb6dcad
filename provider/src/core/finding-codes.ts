import type { Severity } from "./severity";

interface FindingRow {
  /** What is looked at, and when it is told. */
  readonly told: string;
  readonly severities: readonly Severity[];
  /** Why that speaks against a start. */
  readonly source: string;
}

const OURS = "it is what a start is made of";

/** Everything that is looked at before a start. Match on the codes, never on text. Those of errors are codes of errors too. */
export const FINDINGS = {
  VLLM_NOT_FOUND: {
    told: "vLLM is not where it was declared to be, or not in the login environment",
    severities: ["error"],
    source: OURS,
  },
  CHECKPOINT_NOT_FOUND: {
    told: "the folder of the checkpoint is not there, or holds no weights",
    severities: ["error"],
    source: OURS,
  },
  CONFIG_PATCH_REJECTED: {
    told: "overrides cannot be applied to the checkpoint's config",
    severities: ["error"],
    source: OURS,
  },
  INCOMPATIBLE: {
    told: "model, vLLM, GPUs and inputs do not go together: KV-cache dtype, quantization, dtype, parallel sizes",
    severities: ["error", "warning"],
    source: "core/compatibility, a source a row",
  },
  GPU_MEMORY_TOO_SMALL: {
    told: "the weights cannot fit the GPUs (error), or the longest request likely does not (warning)",
    severities: ["error", "warning"],
    source: "docs/memory-fit.md: an estimate, compared with what vLLM printed",
  },
  GPU_MEMORY_ESTIMATE: {
    told: "how many tokens of KV cache the GPUs have room for",
    severities: ["note"],
    source: "docs/memory-fit.md: an estimate, compared with what vLLM printed",
  },
  PORT_IN_USE: {
    told: "somebody else listens on the port, or has bound it",
    severities: ["error"],
    source: "vLLM 0.32.0 entrypoints/launchers/launcher.py create_server_socket",
  },
  GPU_NOT_FOUND: {
    told: "a GPU that was declared is not there, or none can be seen",
    severities: ["error"],
    source: OURS,
  },
  GPUS_NOT_FREE: {
    told: "fewer GPUs are free than are needed, or a declared one is held by somebody",
    severities: ["error"],
    source: OURS,
  },
  GPU_PROHIBITED: {
    told: "a GPU is in the compute mode Prohibited",
    severities: ["error"],
    source: "NVIDIA, CUDA C++ Programming Guide, Compute Modes",
  },
  GPU_EXCLUSIVE: {
    told: "several GPUs, of which one is in the compute mode Exclusive_Process",
    severities: ["warning"],
    source:
      "NVIDIA, CUDA C++ Programming Guide, Compute Modes; huggingface/pytorch-image-models issue 1033: a rank opens a second GPU",
  },
  GPU_MIG: {
    told: "a whole GPU is to be used that is divided into MIG instances",
    severities: ["warning"],
    source: "NVIDIA, MIG User Guide, CUDA Device Enumeration",
  },
  GPU_NOT_PERSISTENT: {
    told: "persistence mode is off",
    severities: ["note"],
    source: "NVIDIA, Driver Persistence",
  },
  GPU_MEMORY_FAULT: {
    told: "a GPU has counted ECC errors that it could not correct since its driver was loaded",
    severities: ["warning"],
    source: "NVIDIA, GPU Memory Error Management",
  },
  GPU_REPAIR_PENDING: {
    told: "memory of a GPU is to be replaced (row remapping, page retirement) at its next reset",
    severities: ["warning"],
    source: "NVIDIA, GPU Memory Error Management, Row Remapping",
  },
  GPU_REPAIR_FAILED: {
    told: "a GPU could not replace memory that fails",
    severities: ["warning"],
    source: "NVIDIA, GPU Memory Error Management, RMA Policy Thresholds for Row-Remapping",
  },
  GPU_XID: {
    told: "the kernel's log tells of a fault of the hardware since the boot (core/xids.ts)",
    severities: ["warning"],
    source: "NVIDIA, XID Errors",
  },
  GPU_TROUBLE: {
    told: "nvidia-smi complains of something beside the GPUs that it lists",
    severities: ["warning"],
    source: "nvidia-smi 580: a lost GPU is told among the good ones",
  },
  GPUS_DIFFER: {
    told: "GPUs of different kinds are to work together",
    severities: ["warning"],
    source:
      "vLLM 0.32.0 v1/core/kv_cache_utils.py get_kv_cache_configs: the worker with the least room decides for all; platforms/cuda.py log_warnings",
  },
  SHM_TOO_SMALL: {
    told: "/dev/shm has less room than one message queue of several workers takes",
    severities: ["error", "warning"],
    source:
      "vLLM 0.32.0 distributed/device_communicators/shm_broadcast.py check_shm_free_space; vllm-project/vllm pull request 48879: since 0.27, before it a bus error under load",
  },
  OPEN_FILES_LOW: {
    told: "the login allows few open files, and does not allow vLLM to raise that",
    severities: ["warning"],
    source: "vLLM 0.32.0 utils/system_utils.py set_ulimit",
  },
  LINGER_OFF: {
    told: "the server is no unit of systemd, and its user does not linger",
    severities: ["note"],
    source: "systemd 252, logind.conf(5) KillUserProcesses",
  },
  HOST_MEMORY_LOW: {
    told: "the host's memory is smaller than what is to be kept there (warning), or than the checkpoint (note)",
    severities: ["warning", "note"],
    source:
      "vLLM 0.32.0 config/offload.py cpu_offload_gb; model_executor/model_loader/weight_utils.py safetensors_weights_iterator",
  },
  CLOCK_OFF: {
    told: "the clocks of the host and of this machine differ by more than a minute",
    severities: ["warning"],
    source: "RFC 5280: a certificate is valid from and to a time",
  },
  FLAG_UNKNOWN: {
    told: "the installed vLLM does not know a flag; one that was removed: since when, and what replaces it",
    severities: ["error"],
    source: "vLLM's own table of 0.32.0, or what the installed one tells of itself",
  },
  INPUT_INVALID: {
    told: "the installed vLLM would refuse the value of a flag",
    severities: ["error"],
    source: "vLLM's own table of 0.32.0",
  },
  FLAG_DEPRECATED: {
    told: "the installed vLLM takes a flag that a later one does not: since when, and what replaces it",
    severities: ["warning"],
    source: "core/vllm-flags-removed.ts, a source a row",
  },
  KV_DTYPE_REFUSED: {
    told: "a 16-bit kvCacheDtype is not the model's own, which the installed vLLM refuses",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  KV_DTYPE_UNKNOWN_TO_VERSION: {
    told: "kvCacheDtype is no value that the installed vLLM knows",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  KV_DTYPE_DECIDED_BY_MODEL: {
    told: "the model or its attention backend may store another type than kvCacheDtype",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  KV_DTYPE_NOT_SUPPORTED: {
    told: "no attention backend of these GPUs and this model takes kvCacheDtype",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  KV_DTYPE_NOT_THE_MODELS: {
    told: "a 16-bit kvCacheDtype is not the checkpoint's own, which later versions refuse",
    severities: ["warning"],
    source: "vLLM 0.33.0 config/vllm.py",
  },
  KV_SCHEME_REFUSED: {
    told: "what the checkpoint asks for lets no start succeed with this kvCacheDtype",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  KV_REQUEST_NOT_KNOWN: {
    told: "what the checkpoint asks for is nothing to this version: the KV cache gets the model's own type",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  QUANTIZATION_REFUSED: {
    told: "the installed vLLM does not load what is quantized so",
    severities: ["warning"],
    source: "core/kv-wish-rules.ts, a source a row",
  },
  OVERRIDE_NOT_READ: {
    told: "vLLM does not read an override, under this name or at this place",
    severities: ["warning"],
    source: "core/config-patch/exclude-keys.ts; vLLM 0.32.0 transformers_utils/configs/mistral.py",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
