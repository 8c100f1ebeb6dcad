import type { CauseRule } from "../rule";
import { error, proof, symptom, verdict } from "../signs";

const CUDA_OOM = /CUDA out of memory\. Tried to allocate/;

export const MEMORY_RULES: readonly CauseRule[] = [
  {
    cause: "MAX_NUM_SEQS_TOO_HIGH",
    summary: [
      "maxNumSeqs {maxNumSeqs} does not fit, at most {suggestedMaxNumSeqs}",
      "maxNumSeqs is too high for the memory that is left",
    ],
    change: [
      "engine.maxNumSeqs: {suggestedMaxNumSeqs} (--max-num-seqs); with it fixed, another limit may show at the next start",
      "engine.maxNumSeqs lower (--max-num-seqs), or engine.gpuMemoryUtilization lower (--gpu-memory-utilization)",
    ],
    signs: [
      verdict(
        /max_num_seqs \((?<maxNumSeqs>\d+)\) exceeds available Mamba cache blocks \((?<suggestedMaxNumSeqs>\d+)\)/,
        "vllm 0.21 to 0.33 config/compilation.py",
      ),
      verdict(
        /CUDA out of memory occurred when warming up (?:sampler|pooler) .*with (?<maxNumSeqs>\d+) dummy requests/,
        "vllm 0.8 to 0.33 v1/worker/gpu_model_runner.py",
      ),
    ],
  },
  {
    cause: "GPU_MEMORY_TAKEN",
    summary: [
      "only {freeGiB} of {totalGiB} GiB host memory are free on NUMA node {node}, less than gpuMemoryUtilization wants",
      "only {freeGiB} of {totalGiB} GiB GPU memory are free and gpuMemoryUtilization {utilization} wants {wantedGiB} GiB",
      "somebody else holds the GPU memory",
    ],
    change: [
      "engine.gpuMemoryUtilization: {fittingUtilization} or less (--gpu-memory-utilization, which on CPU means host memory), or host: more free memory on NUMA node {node}",
      "host: stop the process that holds the GPU (nvidia-smi lists it), or engine.gpuMemoryUtilization: {fittingUtilization} or less (--gpu-memory-utilization)",
      "host: stop the process that holds the GPU (nvidia-smi lists it), or engine.gpuMemoryUtilization lower (--gpu-memory-utilization)",
    ],
    derive: ({ freeGiB, totalGiB }) =>
      typeof freeGiB === "number" && typeof totalGiB === "number"
        ? { fittingUtilization: Math.floor((freeGiB / totalGiB) * 100) / 100 }
        : {},
    signs: [
      proof(
        /Free memory on device .*?\((?<freeGiB>[\d.]+)\/(?<totalGiB>[\d.]+) GiB\) on startup is less than .*?\((?<utilization>[\d.]+), (?<wantedGiB>[\d.]+) GiB\)/,
        "vllm 0.10 to 0.33 v1/worker/utils.py",
      ),
      proof(
        /Free memory on device .*?\((?<freeGiB>[\d.]+)\/(?<totalGiB>[\d.]+) GiB\) on startup is less than/,
        "vllm 0.10 v1/worker/gpu_worker.py",
      ),
      proof(
        /Externally held weights on device .* exceed the desired GPU memory utilization/,
        "vllm 0.32.0 v1/worker/utils.py",
      ),
      proof(
        /Available memory on node (?<node>\d+) \((?<freeGiB>[\d.]+)\/(?<totalGiB>[\d.]+) GiB\) on startup is less than/,
        "vllm 0.32.0 v1/worker/cpu_worker.py",
      ),
    ],
  },
  {
    cause: "GPU_MEMORY_CHANGED_DURING_PROFILING",
    summary: [
      "another process freed GPU memory while vLLM measured it ({initialFreeGiB} GiB free, then {currentFreeGiB} GiB)",
      "another process freed GPU memory while vLLM measured it",
    ],
    change: ["start again; host: serialise starts on this GPU, one after the other"],
    retryable: true,
    signs: [
      proof(
        /Error in memory profiling\. Initial free memory (?<initialFreeGiB>[\d.]+) GiB, current free memory (?<currentFreeGiB>[\d.]+) GiB/,
        "vllm 0.10 to 0.33 v1/worker/gpu_worker.py",
      ),
      proof(/Error in memory profiling\./, "vllm 0.6 worker/worker.py"),
    ],
  },
  {
    cause: "KV_CACHE_TOO_SMALL_FOR_MODEL_LEN",
    summary: [
      "maxModelLen {maxModelLen} needs {neededGiB} GiB of KV cache and {availableGiB} GiB are left",
      "the KV cache holds fewer tokens than maxModelLen {maxModelLen}",
      "the KV cache is smaller than one request of maxModelLen",
    ],
    change: [
      "engine.maxModelLen: {suggestedMaxModelLen} or lower (--max-model-len), or engine.gpuMemoryUtilization higher (--gpu-memory-utilization), or engine.tensorParallelSize higher (--tensor-parallel-size)",
      "engine.maxModelLen: about {fittingMaxModelLen} (--max-model-len), or engine.gpuMemoryUtilization higher (--gpu-memory-utilization), or engine.tensorParallelSize higher (--tensor-parallel-size)",
      "engine.maxModelLen lower (--max-model-len), or engine.gpuMemoryUtilization higher (--gpu-memory-utilization), or engine.tensorParallelSize higher (--tensor-parallel-size)",
    ],
    // Rounded down to whole thousands, with a margin: the next start measures a little less or more.
    derive: ({ maxModelLen, neededGiB, availableGiB }) =>
      typeof maxModelLen === "number" && typeof neededGiB === "number" && typeof availableGiB === "number"
        ? { fittingMaxModelLen: Math.floor((maxModelLen * availableGiB * 0.98) / neededGiB / 1000) * 1000 }
        : {},
    signs: [
      proof(
        /max seq len \((?<maxModelLen>\d+)\), \(?(?<neededGiB>[\d.]+) GiB KV cache is needed, which is larger than the available KV cache memory \((?<availableGiB>[\d.]+) GiB\)/,
        "vllm 0.8 to 0.33 v1/core/kv_cache_utils.py",
      ),
      error(
        /the estimated maximum model length is (?<suggestedMaxModelLen>\d+)/,
        "vllm 0.9 to 0.33 v1/core/kv_cache_utils.py",
      ),
      proof(
        /max seq len \((?<maxModelLen>\d+)\) is larger than the maximum number of tokens that can be stored in KV cache \((?<suggestedMaxModelLen>\d+)\)/,
        "vllm 0.3 to 0.8 worker/worker.py",
      ),
    ],
  },
  {
    cause: "KV_CACHE_NO_MEMORY",
    summary: [
      "a KV cache of {wantedGiB} GiB is asked for, and {freeGiB} GiB of host memory are free (NUMA node {node})",
      "weights and activations leave {availableGiB} GiB for the KV cache",
      "weights and activations use the whole memory budget, nothing is left for the KV cache",
    ],
    change: [
      "environment.VLLM_CPU_KVCACHE_SPACE or engine.kvCacheMemoryBytes (--kv-cache-memory-bytes) below {freeGiB} GiB; or host: more free memory on NUMA node {node}",
      "engine.gpuMemoryUtilization higher (--gpu-memory-utilization), engine.tensorParallelSize higher (--tensor-parallel-size), or a smaller checkpoint",
    ],
    context: ["availableGiB"],
    signs: [
      proof(
        /Available memory on node (?<node>\d+) \((?<freeGiB>[\d.]+)\/(?<totalGiB>[\d.]+) GiB\) on kv cache allocation is less than requested memory for kv \((?<wantedGiB>[\d.]+)/,
        "vllm 0.32.0 v1/worker/cpu_worker.py",
      ),
      proof(/No available memory for the cache blocks/, "vllm 0.3 to 0.33 v1/core/kv_cache_utils.py"),
      proof(/Cannot auto-fit max_model_len: not enough GPU memory/, "vllm 0.32.0 v1/core/kv_cache_utils.py"),
    ],
  },
  {
    cause: "GPU_OOM_STARTUP",
    summary: [
      "the GPU has too little memory ({totalGiB} GiB) to load and try the model",
      "the GPU has too little memory to load and try the model",
    ],
    change: [
      "engine.tensorParallelSize higher (--tensor-parallel-size), engine.maxModelLen (--max-model-len), engine.maxNumSeqs (--max-num-seqs), engine.maxNumBatchedTokens (--max-num-batched-tokens) or engine.gpuMemoryUtilization (--gpu-memory-utilization) lower, engine.enforceEager: true (--enforce-eager), or a smaller, quantized checkpoint",
    ],
    signs: oomSigns(),
  },
  {
    cause: "HOST_OOM_KILLED",
    summary: ["the kernel killed a vLLM process for want of host memory"],
    change: [
      "host: more memory, or a higher memory limit of the container; environment.MAX_JOBS lower; engine.cpuOffloadGb (--cpu-offload-gb) lower",
    ],
    signs: [
      verdict(/Out of memory: Killed process \d+/, "Linux mm/oom_kill.c"),
      verdict(/Memory cgroup out of memory/, "Linux mm/oom_kill.c"),
      verdict(/oom-kill:constraint=/, "Linux mm/oom_kill.c"),
      verdict(/invoked oom-killer/, "Linux mm/oom_kill.c"),
      verdict(/Failed with result 'oom-kill'/, "systemd"),
      verdict(/A process of this unit has been killed by the OOM killer/, "systemd"),
      verdict(/OutOfMemoryError: Task was killed due to the node running low on memory/, "Ray"),
      verdict(/\bOOMKilled\b/, "Kubernetes"),
      symptom(/ died unexpectedly.*exit code: -9\b/, "vllm 0.28 v1/executor/multiproc_executor.py"),
      symptom(/Failed core proc\(s\): \{.*: -9\b/, "vllm 0.10 to 0.33 v1/engine/utils.py"),
      symptom(/ died, exit code: -9\b/, "vllm 0.5 multiproc_worker_utils.py"),
      symptom(/^Killed +\S*(?:vllm|python)/, "bash"),
      proof(/died due to signal 9 \(Kill signal\)/, "nvcc: a compiler of a JIT build was killed"),
      proof(/fatal error: Killed signal terminated program/, "gcc, in a JIT build"),
      symptom(/^Killed$/, "sh, in a JIT build or around vLLM"),
      symptom(
        /A worker process managed by the executor was unexpectedly terminated/,
        "Python concurrent.futures",
      ),
      symptom(/DefaultCPUAllocator: (?:can't|not enough)/, "torch c10/core/impl/alloc_cpu.cpp"),
      symptom(/Cannot allocate memory/, "errno 12"),
    ],
  },
];

/** The same words before and after ready; LogScanner forgets what was before, so the phase decides the cause. */
export const RUNTIME_OOM_RULE: CauseRule = {
  cause: "GPU_OOM_RUNTIME",
  summary: [
    "the GPU ran out of memory ({totalGiB} GiB) while serving",
    "the GPU ran out of memory while serving",
  ],
  change: [
    "engine.gpuMemoryUtilization lower (--gpu-memory-utilization), engine.maxNumSeqs (--max-num-seqs), engine.maxNumBatchedTokens (--max-num-batched-tokens) or engine.maxModelLen (--max-model-len) lower",
  ],
  signs: oomSigns(),
};

function oomSigns(): CauseRule["signs"] {
  return [
    error(
      /CUDA out of memory\. Tried to allocate (?<triedMiB>[\d.]+) MiB\. GPU \d+ has a total capacity of (?<totalGiB>[\d.]+) GiB/,
      "torch 2.2 to 2.13 c10/cuda/CUDACachingAllocator.cpp",
    ),
    error(
      /CUDA out of memory\. .*has a total capacity of (?<totalGiB>[\d.]+) GiB/,
      "torch 2.2 c10/cuda/CUDACachingAllocator.cpp",
    ),
    error(/CUDA out of memory\. Tried to allocate .*; (?<totalGiB>[\d.]+) GiB total capacity/, "torch 2.1"),
    error(CUDA_OOM, "torch c10/cuda/CUDACachingAllocator.cpp"),
    error(/HIP out of memory\. /, "torch on ROCm"),
    error(/XPU out of memory\. /, "torch on XPU"),
    error(/CUDA error: out of memory/, "torch; CUDA error 2"),
    error(/HIP error: out of memory/, "torch on ROCm"),
    error(/CUDA Error: out of memory at/, "vllm csrc/cumem_allocator.cpp"),
    error(/Triton Error \[\w+\]: out of memory/, "triton runtime"),
    error(/OutOfMemoryError: Allocation on device/, "torch cudaMallocAsync"),
    error(/Failed: Cuda error .*'out of memory'/, "vllm csrc/custom_all_reduce.cuh"),
    symptom(/Cuda failure (?:2 )?'out of memory'/, "NCCL"),
    symptom(/CUBLAS_STATUS_ALLOC_FAILED/, "cuBLAS"),
    symptom(/CUDA_ERROR_OUT_OF_MEMORY/, "CUDA driver"),
  ];
}
