import type { CauseFact, FailureCause } from "./causes";

/** Causes that lie in the machine, its files, its Python environment, its network, or in life and death. */
export const MACHINE_CAUSES = {
  PORT_IN_USE: {
    meaning: "The API port is already bound",
    change: "--port, or stop the listener",
  },
  INTERNAL_PORT_IN_USE: {
    meaning: "An internal rendezvous port was taken (race)",
    change: "retry / serialise starts; VLLM_PORT",
  },
  VLLM_PORT_IS_URI: {
    meaning: "VLLM_PORT holds a Kubernetes service URI",
    change: "unset VLLM_PORT / rename the service",
  },
  IPC_PATH_TOO_LONG: {
    meaning: "A unix socket path is longer than 107 bytes",
    change: "shorter TMPDIR / VLLM_RPC_BASE_PATH",
  },
  OPEN_FILES_LIMIT: {
    meaning: "Too many open file descriptors",
    change: "ulimit -n / LimitNOFILE",
  },
  HUB_REPO_NOT_FOUND: {
    meaning: "The repository does not exist or is private and no token was sent",
    change: "model id, or HF_TOKEN",
  },
  HUB_GATED: {
    meaning: "The repository is gated and access was not granted to this token / no token",
    change: "accept the licence; HF_TOKEN",
  },
  HUB_REVISION_NOT_FOUND: {
    meaning: "The revision does not exist in the repository that was asked",
    change: "--revision / --tokenizer-revision (or huggingface_hub version)",
  },
  HUB_OFFLINE_MISSING: {
    meaning: "Offline mode is on and the files are not in the local cache",
    change: "unset HF_HUB_OFFLINE, or fill / mount the cache",
  },
  HUB_UNREACHABLE: {
    meaning: "The hub cannot be reached (DNS, timeout, 5xx)",
    change: "network / proxy / HF_ENDPOINT; HF_HUB_OFFLINE=1 when cached",
  },
  HUB_RATE_LIMITED: {
    meaning: "The hub answers 429",
    change: "HF_TOKEN, HF_HUB_OFFLINE=1 when cached, wait",
  },
  HARMONY_VOCAB_UNAVAILABLE: {
    meaning: "gpt-oss needs tiktoken vocab files that could not be downloaded",
    change: "TIKTOKEN_ENCODINGS_BASE with local vocab files, or network",
  },
  MODEL_PATH_INVALID: {
    meaning: "The local path given as model does not exist or holds no config",
    change: "model path / volume mount",
  },
  DISK_FULL: {
    meaning: "A filesystem is full",
    change: "free disk; HF_HOME / --download-dir",
  },
  CACHE_NOT_WRITABLE: {
    meaning: "A cache directory cannot be created or written by the user",
    change: "HF_HOME / HOME / VLLM_CACHE_ROOT or ownership",
  },
  USER_ID_UNKNOWN: {
    meaning: "The process runs under a uid without passwd entry",
    change: "set USER (and HOME) or TORCHINDUCTOR_CACHE_DIR",
  },
  CHECKPOINT_FILE_CORRUPT: {
    meaning: "A weight file is truncated or not a safetensors file",
    change: "download that file again",
  },
  WEIGHTS_MISSING: {
    meaning: "Weight files or tensors that the model needs are absent",
    change: "download the missing files / --load-format / right checkpoint",
  },
  TOKENIZER_NOT_FOUND: {
    meaning: "The checkpoint has no tokenizer that can be read",
    change:
      "tokenizer.json and tokenizer_config.json in the checkpoint / --tokenizer / --skip-tokenizer-init",
  },
  CHECKPOINT_MODEL_MISMATCH: {
    meaning: "The checkpoint has tensors the vLLM model class does not know (or the reverse)",
    change: "vLLM version, quantization config, or another checkpoint",
  },
  NVCC_NOT_FOUND: {
    meaning: "A JIT build needs nvcc and does not find a usable one (missing, PATH, CUDA_HOME wrong)",
    change: "install CUDA toolkit / fix PATH, CUDA_HOME; VLLM_USE_FLASHINFER_SAMPLER=0",
  },
  NVCC_TOO_OLD: {
    meaning: "nvcc exists but is too old for the flags/GPU",
    change: "newer CUDA toolkit",
  },
  NINJA_NOT_FOUND: {
    meaning: "ninja executable not found",
    change: "install ninja / put the venv bin on PATH",
  },
  C_COMPILER_NOT_FOUND: {
    meaning: "No C compiler for Triton/Inductor",
    change: "install gcc / CC",
  },
  PYTHON_HEADERS_MISSING: {
    meaning: "Python.h missing",
    change: "install python3-dev",
  },
  PTXAS_TOO_OLD: {
    meaning: "Triton's ptxas does not know the GPU",
    change: "TRITON_PTXAS_PATH to CUDA >= 12.9/13 ptxas",
  },
  COMPILE_CACHE_CORRUPT: {
    meaning: "A torch.compile cache entry is corrupt or stale",
    change: "delete VLLM_CACHE_ROOT/torch_compile_cache (separate caches / serialise starts)",
  },
  LIBRARY_MISSING: {
    meaning: "A shared library (CUDA runtime) is missing",
    change: "install the matching CUDA runtime / matching wheel",
  },
  EXTENSION_ABI_MISMATCH: {
    meaning: "A compiled extension does not match the installed torch",
    change: "reinstall matching torch/vLLM/flash-attn",
  },
  GLIBC_TOO_OLD: {
    meaning: "The host glibc/libstdc++ is older than the binary needs",
    change: "newer OS or container image / matching wheel",
  },
  PYTHON_PACKAGE_CONFLICT: {
    meaning: "Two Python packages in the environment have incompatible versions",
    change: "pin the package named",
  },
  OPTIONAL_PACKAGE_MISSING: {
    meaning: "An optional package needed by the options is absent or too old",
    change: "pip install it",
  },
  DRIVER_TOO_OLD: {
    meaning: "NVIDIA driver older than the CUDA runtime of the wheel",
    change: "driver upgrade or a wheel for the older CUDA",
  },
  NO_GPU_VISIBLE: {
    meaning: "The process sees no GPU",
    change: "driver / container runtime / CUDA_VISIBLE_DEVICES",
  },
  GPU_ARCH_NOT_IN_BUILD: {
    meaning: "The wheel has no kernels for this GPU",
    change: "wheel built for that GPU / CUDA",
  },
  FABRIC_MANAGER_DOWN: {
    meaning: "NVSwitch system without running fabric manager (error 802)",
    change: "start nvidia-fabricmanager of the driver version",
  },
  GPU_BUSY: {
    meaning: "CUDA says the device is busy or unavailable",
    change: "compute mode / process holding the GPU",
  },
  GPU_HARDWARE_ERROR: {
    meaning: 'ECC error / Xid / lost GPU / "unspecified launch failure" while serving',
    change: "dmesg (Xid) and nvidia-smi of that GPU; reset or replace it, reboot",
  },
  GPU_UUID_UNSUPPORTED: {
    meaning: "CUDA_VISIBLE_DEVICES holds UUIDs that this vLLM cannot parse",
    change: "CUDA_VISIBLE_DEVICES as indexes",
  },
  SHM_TOO_SMALL: {
    meaning: "/dev/shm is too small or full",
    change: "--shm-size / --ipc=host / clean /dev/shm",
  },
  NCCL_FAILED: {
    meaning: "NCCL initialisation failed",
    change: "NCCL_DEBUG=INFO; NCCL_P2P_DISABLE / NCCL_SOCKET_IFNAME ...",
  },
  CUSTOM_ALLREDUCE_FAILED: {
    meaning: "vLLM custom all-reduce kernel failed",
    change: "unset expandable_segments, or --disable-custom-all-reduce",
  },
  GLOO_INTERFACE: {
    meaning: "Gloo bound to a wrong or unknown network interface",
    change: "GLOO_SOCKET_IFNAME / VLLM_HOST_IP / hostname",
  },
  RAY_RESOURCES: {
    meaning: "Ray cannot place the workers",
    change: "ray cluster GPUs / VLLM_HOST_IP",
  },
  KV_CONNECTOR_FAILED: {
    meaning: "The KV transfer connector (NIXL/UCX ...) could not start",
    change: "UCX_NET_DEVICES / connector configuration",
  },
  ENGINE_READY_TIMEOUT: {
    meaning: "API server gave up waiting for the engine",
    change: "VLLM_ENGINE_READY_TIMEOUT_S",
  },
  ENGINE_STEP_TIMEOUT: {
    meaning: "A worker hung; the engine step RPC timed out after ready",
    change: "restart; driver/NCCL/spec-decode options; VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS",
  },
  CUDA_ILLEGAL_ACCESS: {
    meaning: "A kernel crashed with an illegal memory access",
    change: "vLLM version / attention backend / --enforce-eager",
  },
  TERMINATED_BY_SIGNAL: {
    meaning: "Something outside sent SIGTERM/SIGINT",
    change: "who stops it: probes, session end (linger), supervisor",
  },
  NO_FAILURE: {
    meaning: "Healthy, slow, or cleanly stopped: nothing to fix",
    change: "nothing (wait)",
  },
} as const satisfies Partial<Record<FailureCause, CauseFact>>;
