import type { CauseRule } from "../rule";
import { error, hint, proof, symptom, verdict } from "../signs";
import { xidIn } from "../../xids";

export const GPU_AND_DRIVER_RULES: readonly CauseRule[] = [
  {
    cause: "DRIVER_TOO_OLD",
    summary: [
      "the NVIDIA driver (CUDA {driverCuda}) is older than this vLLM needs",
      "the NVIDIA driver is older than this vLLM needs",
    ],
    change: ["host: upgrade the NVIDIA driver, or vllm.torchBackend: an older CUDA"],
    signs: [
      verdict(
        /NVIDIA driver on your system is too old \(found version (?<driverCuda>\d+)\)/,
        "torch cuda/__init__.py",
      ),
      verdict(/CUDA driver version is insufficient for CUDA runtime version/, "CUDA error 35"),
      verdict(/Error (?<cudaError>803): /, "CUDA error 803"),
      verdict(/Error (?<cudaError>804): /, "CUDA error 804"),
      verdict(/system has unsupported display driver/, "CUDA error 803"),
      verdict(/forward compatibility was attempted on non supported HW/, "CUDA error 804"),
      proof(/provided PTX was compiled with an unsupported toolchain/, "CUDA error 222"),
      proof(/[Dd]river\/library version mismatch/, "NVML error 18"),
      proof(/NVMLError_LibRmVersionMismatch/, "pynvml"),
      proof(/unsatisfied condition: cuda>=/, "nvidia-container-cli"),
    ],
  },
  {
    cause: "FABRIC_MANAGER_DOWN",
    summary: ["the NVSwitch fabric is not up (CUDA error 802)"],
    change: ["host: start nvidia-fabricmanager, in the version of the driver"],
    signs: [
      verdict(/Error (?<cudaError>802): system not yet initialized/, "CUDA error 802"),
      verdict(/system not yet initialized/, "CUDA error 802"),
    ],
  },
  {
    cause: "GPU_BUSY",
    summary: ["CUDA says the GPU is busy or unavailable"],
    change: [
      "host: stop the process that holds the GPU (nvidia-smi), or set compute mode Default (nvidia-smi -c 0)",
    ],
    retryable: true,
    signs: [
      verdict(/CUDA-capable devices? ?(?:\(s\) )?.*busy or unavailable/, "CUDA error 46"),
      verdict(/devices?(?:\(s\))? (?:is\/)?are busy or unavailable/, "CUDA error 46"),
      verdict(/busy or unavailable/, "CUDA error 46"),
      verdict(/exclusive-(?:process|thread) device already in use/, "CUDA error 54"),
    ],
  },
  {
    cause: "GPU_UUID_UNSUPPORTED",
    summary: ["this vLLM cannot read a UUID in CUDA_VISIBLE_DEVICES"],
    change: [
      "gpus: indexes (CUDA_VISIBLE_DEVICES; inside a container with one MIG device: 0), or vllm.version: a newer one",
    ],
    signs: [
      verdict(
        /invalid literal for int\(\) with base 10: '(?<device>(?:MIG|GPU)-[^']*)'/,
        "vllm 0.6 to 0.20 platforms/interface.py",
      ),
      verdict(/invalid literal for int\(\) with base 10: b?["'](?<device>(?:MIG|GPU)-[^"']*)/, "vllm 0.6"),
    ],
  },
  {
    cause: "GPU_HARDWARE_ERROR",
    summary: ["GPU {rank} failed while it computed", "a GPU failed while it computed"],
    change: ["host: look at dmesg (Xid) and nvidia-smi of that GPU; reset or replace it, or reboot"],
    context: ["rank"],
    signs: [
      proof(/uncorrectable ECC error/, "CUDA error 214"),
      proof(/uncorrectable NVLink error/, "CUDA error 220"),
      proof(/NVRM: Xid \((?:PCI:)?(?<device>[\da-fA-F:.]+)\): (?<xid>\d+)/, "NVIDIA driver", {
        accepts: (match) => xidIn(match.input)?.fault === "hardware",
      }),
      proof(/GPU is lost/, "NVML error 15"),
      proof(/fallen off the bus/, "NVIDIA driver Xid 79"),
      proof(/Unable to determine the device handle for/, "nvidia-smi"),
      proof(/unspecified launch failure/, "CUDA error 719"),
      error(/hardware stack error/, "CUDA error 714"),
      symptom(/CUDA error: unknown error/, "CUDA error 999"),
    ],
  },
  {
    cause: "GPU_ARCH_NOT_IN_BUILD",
    summary: [
      "this build of vLLM or torch has no kernels for this GPU (sm_{sm})",
      "this build of vLLM or torch has no kernels for this GPU",
    ],
    change: [
      "vllm.version: one that is built for this GPU, with vllm.torchBackend (for SM12x CUDA 12.8 or newer)",
    ],
    context: ["sm"],
    signs: [
      proof(/no kernel image is available for execution on the device/, "CUDA error 209"),
      error(/CUDA error: device kernel image is invalid/, "CUDA error 200"),
      error(/Unsupported architecture/, "flashinfer trtllm; sm_120", {
        accepts: (match) => /Error|error/.test(match.input),
      }),
      hint(/ is not compatible with the current PyTorch installation/, "torch cuda/__init__.py"),
    ],
  },
  {
    cause: "NO_GPU_VISIBLE",
    summary: ["vLLM sees no GPU"],
    change: ["host: NVIDIA driver and container runtime (--gpus all); gpus (CUDA_VISIBLE_DEVICES)"],
    signs: [
      symptom(/Failed to infer device type/, "vllm 0.5 to 0.33 config/device.py"),
      symptom(/No CUDA GPUs are available/, "torch cuda/__init__.py"),
      symptom(/no CUDA-capable device is detected/, "CUDA error 100"),
      symptom(/Found no NVIDIA driver on your system/, "torch cuda/__init__.py"),
      symptom(/NVML Shared Library Not Found/, "pynvml"),
      symptom(/NVMLError_LibraryNotFound/, "pynvml"),
      symptom(/CUDA driver initialization failed/, "torch"),
      symptom(/Device string must not be empty/, "torch; vllm 0.8, 0.9"),
    ],
  },
];
