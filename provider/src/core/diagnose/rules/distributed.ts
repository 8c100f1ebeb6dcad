import type { CauseRule } from "../rule";
import { error, hint, proof, symptom } from "../signs";
import { isSharedMemory } from "./files";

export const DISTRIBUTED_RULES: readonly CauseRule[] = [
  {
    cause: "SHM_TOO_SMALL",
    summary: ["/dev/shm has only {shmBytes} bytes", "/dev/shm is too small or full"],
    change: [
      "host: a larger /dev/shm (--shm-size of some GiB, or --ipc=host for a container), or clean /dev/shm",
    ],
    signs: [
      proof(/Error while creating shared memory segment \S+ \(size (?<wantedBytes>\d+)\)/, "NCCL"),
      proof(/Error while creating shared memory segment/, "NCCL"),
      proof(/No space left on device/, "errno 28", {
        accepts: (match, _line, before) => isSharedMemory(match.input, before),
      }),
      proof(/Insufficient space in \/dev\/shm/, "vllm 0.8 to 0.33"),
      proof(/unable to (?:open|allocate|mmap) shared memory/, "torch"),
      proof(/posix_fallocate failed/, "NCCL"),
      error(/insufficient shared memory \(shm\)/, "torch DataLoader"),
      error(/Bus error/, "signal 7; vllm-project/vllm#1771"),
      symptom(/SIGBUS received/, "absl failure handler"),
      symptom(/ncclShmOpen/, "NCCL"),
      hint(/because \/dev\/shm has only (?<shmBytes>\d+) bytes available/, "Ray services.py", {
        isBestEvidence: true,
      }),
    ],
  },
  {
    cause: "CUSTOM_ALLREDUCE_FAILED",
    summary: ["vLLM's own all-reduce kernel failed"],
    change: [
      'environment.PYTORCH_CUDA_ALLOC_CONF without expandable_segments, or extraArgs["disable-custom-all-reduce"]: true (--disable-custom-all-reduce)',
    ],
    signs: [
      proof(/custom_all_reduce\.cuh/, "vllm csrc/custom_all_reduce.cuh", {
        accepts: (match) => !match.input.includes("out of memory"),
      }),
      proof(/Failed: Cuda error/, "vllm csrc/custom_all_reduce.cuh", {
        accepts: (match) => !match.input.includes("out of memory"),
      }),
    ],
  },
  {
    cause: "GLOO_INTERFACE",
    summary: [
      "gloo is bound to a wrong or unknown network interface ({interface})",
      "gloo is bound to a wrong or unknown network interface",
    ],
    change: [
      "environment.GLOO_SOCKET_IFNAME and environment.VLLM_HOST_IP, on every node; or host: a name that resolves to its own address",
    ],
    signs: [
      proof(/Unable to find (?:address|interface) for: ?(?<interface>\S+)/, "gloo transport/tcp/device.cc"),
      proof(/Unable to find address for/, "gloo transport/tcp/device.cc"),
      error(/Gloo connectFullMesh failed/, "torch ProcessGroupGloo"),
      error(/gloo\/transport\/tcp\//, "gloo", { accepts: (match) => /Error|enforce fail/.test(match.input) }),
      error(/makeDeviceForHostname/, "torch ProcessGroupGloo"),
      error(/client socket has (?:timed out|failed to connect)/, "torch TCPStore: the master node's address"),
      hint(/Unable to resolve hostname to a \(local\) address/, "torch ProcessGroupGloo.cpp", {
        isBestEvidence: true,
      }),
    ],
  },
  {
    cause: "RAY_RESOURCES",
    summary: ["Ray cannot place the workers"],
    change: [
      "host: start Ray on every node before vLLM, with environment.RAY_ADDRESS and environment.VLLM_HOST_IP; or engine.tensorParallelSize lower (--tensor-parallel-size)",
    ],
    signs: [
      proof(
        /number of required \w+ exceeds the total number of available \w+ in the/,
        "vllm 0.4 to 0.33 v1/executor/ray_utils.py",
      ),
      proof(/Cannot provide a placement group/, "vllm 0.4 to 0.33 v1/executor/ray_utils.py"),
      proof(/No available node types can fulfill/, "Ray autoscaler"),
      proof(/Current node has no \w+ available/, "vllm 0.6 to 0.33 v1/executor/ray_utils.py"),
      proof(/Every node should have a unique IP address/, "vllm 0.4 to 0.33 ray executor"),
      proof(/Ray does not allocate any GPUs on the driver node/, "vllm 0.4 to 0.8 ray executor"),
      proof(/Could not find any running Ray instance/, "Ray"),
      error(/Failed to connect to Ray cluster/, "Ray"),
      error(/Failed to register worker to Raylet/, "Ray"),
    ],
  },
  {
    cause: "KV_CONNECTOR_FAILED",
    summary: ["the KV transfer connector could not start"],
    change: [
      'environment.UCX_NET_DEVICES (or UCX_TLS), or extraArgs["kv-transfer-config"] (--kv-transfer-config)',
    ],
    signs: [
      proof(/nixlBackendError/, "nixl; vllm-project/vllm#18322"),
      proof(/NIXL_ERR_/, "nixl"),
      proof(/NIXL is not available/, "vllm 0.9 to 0.33 nixl connector"),
      proof(/NIXL compatibility hash mismatch/, "vllm 0.32.0 nixl connector"),
      proof(/Unsupported (?:kv )?connector type/, "vllm 0.6 to 0.33 kv_connector/factory.py"),
      proof(/Unsupported kv_role/, "vllm 0.8 to 0.33 config/kv_transfer.py"),
      proof(/Please specify kv_role when kv_connector is set/, "vllm 0.8 to 0.33 config/kv_transfer.py"),
      proof(/Mooncake .*failed/, "vllm 0.32.0 mooncake connector"),
      error(/UCX {2}ERROR /, "UCX"),
      error(/UCX ERROR /, "UCX"),
    ],
  },
  {
    cause: "NCCL_FAILED",
    summary: ["NCCL, which connects the GPUs, failed"],
    change: [
      'environment.NCCL_DEBUG: "INFO" for one start tells why; then environment.NCCL_P2P_DISABLE: "1" or environment.NCCL_SOCKET_IFNAME; a container needs --shm-size or --ipc=host',
    ],
    signs: [
      symptom(/NCCL error: /, "vllm distributed/device_communicators/pynccl_wrapper.py"),
      symptom(/NCCL error in: /, "torch DistBackendError"),
      symptom(/DistBackendError/, "torch"),
      symptom(/ncclSystemError/, "NCCL"),
      symptom(/ncclInternalError/, "NCCL"),
      symptom(/ncclRemoteError/, "NCCL"),
      symptom(/ncclUnhandledCudaError/, "NCCL"),
      symptom(/ncclInvalidUsage/, "NCCL"),
      symptom(/Bootstrap : no socket interface found/, "NCCL"),
      hint(/Duplicate GPU detected/, "NCCL init.cc: two ranks on one GPU", { isBestEvidence: true }),
      symptom(/Watchdog caught collective operation timeout/, "torch ProcessGroupNCCL"),
      symptom(/Failed to load NCCL library/, "vllm pynccl_wrapper.py"),
    ],
  },
];
