import { type CauseRule, sourceOf } from "../rule";
import { error, proof, symptom, verdict } from "../signs";

export const QUANTIZATION_RULES: readonly CauseRule[] = [
  {
    cause: "QUANT_MISMATCH",
    summary: [
      "the checkpoint is quantized as {modelConfig} and engine.quantization says {argument}",
      "engine.quantization and the checkpoint do not fit",
    ],
    change: ["engine.quantization left out (--quantization)"],
    signs: [
      proof(
        /Quantization method specified in the model config \((?<modelConfig>[^)]+)\) does not match .*argument \((?<argument>[^)]+)\)/,
        "vllm 0.3 to 0.33 config/model.py",
      ),
      error(/Unknown ModelOpt quant algo/, "vllm 0.32.0 model_arch_config_convertor.py"),
      error(/Cannot find the config file for \w+/, "vllm 0.3 to 0.33 model_loader/weight_utils.py"),
      error(/quantization method \S+ is deprecated/, "vllm 0.32.0 config/model.py"),
    ],
  },
  {
    cause: "QUANT_METHOD_UNKNOWN",
    summary: [
      "this vLLM does not know the quantization method {quantizationArgument}, which engine.quantization asks for",
      "this vLLM does not know the quantization method {modelConfig} of the checkpoint",
      "this vLLM does not know the quantization method of the checkpoint",
    ],
    change: [
      "engine.quantization left out (--quantization: {quantizationArgument} was asked for); or vllm.version: another",
      "vllm.version: one that knows the method, or a plugin that has it; or model: another checkpoint",
    ],
    context: ["quantizationArgument"],
    signs: [
      proof(/Unknown quantization method: (?<modelConfig>\S+?)\.? /, "vllm 0.3 to 0.33 config/model.py"),
      proof(/Invalid quantization method: (?<modelConfig>\S+)/, "vllm 0.6 to 0.33 quantization/__init__.py"),
    ],
  },
  {
    cause: "QUANT_KERNEL_NONE_VALID",
    summary: ["no kernel of this vLLM takes a quantized layer of this checkpoint on this platform"],
    change: [
      "model: another checkpoint, with a quantization (type, group size) that the reasons in the log allow; or vllm.version: another",
    ],
    signs: [
      symptom(
        /Failed to find a kernel that can implement the/,
        "vllm 0.10 to 0.33 kernels/linear/__init__.py",
      ),
      proof(/Kernel cannot implement due to: /, "vllm 0.8 to 0.33 kernels/linear/__init__.py", {
        accepts: (match) => isOfThisPlatform(match.input),
        isBestEvidence: true,
      }),
      proof(
        /Kernel: .*(?:quantization|scales|group|dtype|activation)/,
        "vllm 0.32.0 kernels/linear/__init__.py",
        {
          accepts: (match) => /^ ?\w+Kernel: /.test(match.input) && isOfThisPlatform(match.input),
          isBestEvidence: true,
        },
      ),
    ],
  },
  {
    cause: "QUANT_UNSUPPORTED_BY_GPU",
    summary: [
      "the quantization needs compute capability {minimum} and this GPU has {current}",
      "the quantization of the checkpoint needs a newer GPU",
    ],
    change: ["model: another checkpoint, with a quantization this GPU can do (AWQ, GPTQ), or another GPU"],
    signs: [
      proof(
        /[Qq]uantization (?:method|scheme) .*is not supported for\W+the current GPU\.\W+Min(?:imum)? capability: (?<minimum>\d+)\.\W+Current capability: (?<current>\d+)/,
        "vllm 0.3 to 0.33 config/vllm.py, compressed_tensors.py (also printed as a tuple)",
      ),
      proof(/is not supported for\W+the current GPU/, "vllm 0.3 to 0.33"),
      proof(/Current platform does not support NVFP4/, "vllm 0.9 to 0.33 nvfp4"),
      proof(/GPU does not (?:have native support|support) (?:for )?FP\d/, "vllm 0.6 to 0.33", {
        accepts: (_match, line) => line.level !== "WARNING",
      }),
      error(
        /Kernel requires capability (?<minimum>\d+), current compute +capability is (?<current>\d+)/,
        "vllm 0.8 to 0.33 kernels/linear/__init__.py",
      ),
      error(/requires compute capability/, "vllm, flashinfer"),
    ],
  },
  {
    cause: "QUANT_SHARD_NOT_DIVISIBLE",
    summary: [
      "with tensorParallelSize {tensorParallelSize} a quantized shard has {partition} columns, which is no multiple of the block of {block}",
      "a quantized shard has {partition} columns, which is no multiple of the block of {block}",
      "a quantized shard is no multiple of the quantization block",
    ],
    change: [
      "engine.tensorParallelSize smaller (--tensor-parallel-size), or engine.enableExpertParallel: true (--enable-expert-parallel)",
    ],
    context: ["tensorParallelSize"],
    signs: [
      verdict(
        /put_?(?:_size)?\w* ?(?:of .*)?= ?(?<partition>\d+)\)? is not divisible by .*?= ?(?<block>\d+)/,
        "vllm 0.6 to 0.33 fp8.py, awq_marlin.py, gptq_marlin.py",
      ),
      verdict(/ is not divisible by weight quantization block/, "vllm 0.6 to 0.33 fp8.py"),
      verdict(
        /Weight \w+put_size_per_partition ?= ?(?<partition>\d+)/,
        "vllm 0.6 to 0.33 distributed/utils.py, marlin",
      ),
      verdict(
        /input size is not aligned with the quantized weight shape/,
        "vllm 0.3 to 0.33 awq.py, gptq.py",
      ),
      verdict(
        /output size is not aligned with the quantized weight shape/,
        "vllm 0.3 to 0.33 awq.py, gptq.py",
      ),
      proof(
        /size_per_partition \((?<partition>\d+)\)? (?:to be|must be) divisible by (?<block>\d+)/,
        "vllm 0.32.0 quantization",
      ),
      proof(
        /per tensor-parallel partition \((?<partition>\d+)\)/,
        "vllm 0.32.0 compressed_tensors_moe_wna16.py",
      ),
      proof(
        /requires \w*size_per_partition divisible by (?<block>\d+), got (?<partition>\d+)/,
        "vllm 0.32.0 modelopt.py",
      ),
      proof(
        /put size \((?<partition>\d+)\) not supported by \w+, supported sizes are multiples of (?<block>\d+)/,
        "vllm 0.32.0 kernels/linear/mixed_precision/cpu.py",
      ),
      proof(
        /does not evenly divide the number of input features/,
        "vllm 0.32.0 kernels/linear/mixed_precision",
      ),
      proof(/which must be divisible by the OCP MX group size/, "vllm 0.32.0 quark_ocp_mx.py"),
    ],
  },
  {
    cause: "DTYPE_UNSUPPORTED_BY_GPU",
    summary: [
      "bfloat16 needs compute capability {minimum} and this GPU has {current}",
      "this GPU cannot compute in bfloat16",
    ],
    change: ['engine.dtype: "half" (--dtype half)'],
    signs: [
      proof(
        /Bfloat16 is only supported on GPUs with compute capability of at least (?<minimum>[\d.]+\d)\. .*has compute capability (?<current>[\d.]+\d)/,
        "vllm 0.2 to 0.33 platforms/cuda.py",
      ),
      proof(/Bfloat16 is only supported on GPUs/, "vllm 0.2 to 0.33 platforms/cuda.py"),
    ],
  },
  {
    cause: "DTYPE_UNSUPPORTED_BY_QUANT",
    summary: ["the quantization method does not compute in this dtype"],
    change: ['engine.dtype: "auto" or "bfloat16" (--dtype), or another checkpoint'],
    signs: [
      proof(/torch\.\w+ is not supported for quantization method/, "vllm 0.3 to 0.33 config/vllm.py"),
      error(/The model type \w+ does not support float16/, "vllm 0.10 to 0.33 config/model.py"),
    ],
  },
  {
    cause: "PARALLEL_SIZE_NOT_DIVISOR",
    summary: [
      "{heads} attention heads cannot be split over tensorParallelSize {tensorParallelSize}",
      "heads or experts cannot be split over tensorParallelSize",
    ],
    change: [
      "engine.tensorParallelSize: {divisors} (--tensor-parallel-size), which divide {heads}",
      "engine.tensorParallelSize: a divisor of the number of heads or experts, as 1, 2 or 4 (--tensor-parallel-size)",
    ],
    derive: ({ heads, tensorParallelSize }) =>
      typeof heads === "number" && typeof tensorParallelSize === "number"
        ? { divisors: divisorsOf(heads, 2 * tensorParallelSize) }
        : {},
    context: ["tensorParallelSize"],
    signs: [
      proof(
        /Total number of attention heads \((?<heads>\d+)\) must be divisible by tensor parallel size \((?<tensorParallelSize>\d+)\)/,
        "vllm 0.2 to 0.33 config/model.py",
      ),
      proof(
        /^(?:\w+Error: )?(?<heads>\d+) is not divisible by (?<tensorParallelSize>\d+)/,
        "vllm 0.2 to 0.33 distributed/utils.py",
      ),
      proof(/must be divisible by tensor parallel size/, "vllm 0.2 to 0.33"),
      proof(/must be divisible by dcp_size/, "vllm 0.32.0 config/parallel.py"),
      proof(
        /Tensor parallel size (?<tensorParallelSize>\d+) is greater than the number of experts/,
        "vllm 0.4 to 0.33 models",
      ),
      proof(/must be divisible by `--decode-context-parallel-size`/, "vllm 0.32.0 config/model.py"),
      symptom(/AssertionError/, "vllm 0.3 to 0.33 models", {
        accepts: (_match, line, before) =>
          /assert .*% *(?:self\.)?(?:tp_size|tensor_model_parallel\w*|world_size)/.test(
            sourceOf(before, line),
          ),
      }),
    ],
  },
  {
    cause: "WORLD_SIZE_EXCEEDS_GPUS",
    summary: ["{worldSize} GPUs are wanted and {gpus} are visible", "more GPUs are wanted than are visible"],
    change: [
      "engine.tensorParallelSize (--tensor-parallel-size) or engine.pipelineParallelSize (--pipeline-parallel-size): at most {gpus} GPUs in all; or gpus: more (CUDA_VISIBLE_DEVICES, --gpus of a container)",
      "engine.tensorParallelSize (--tensor-parallel-size) or engine.pipelineParallelSize (--pipeline-parallel-size) lower; or gpus: more (CUDA_VISIBLE_DEVICES); or engine.distributedExecutorBackend (--distributed-executor-backend)",
    ],
    signs: [
      proof(
        /World size \((?<worldSize>\d+)\) is larger than the number of available GPUs \((?<gpus>\d+)\)/,
        "vllm 0.8 to 0.33 config/parallel.py",
      ),
      proof(
        /world_size \((?<worldSize>\d+)\) is less than than max local gpu count \((?<gpus>\d+)\)/,
        "vllm 0.5 to 0.7 mp_distributed_executor.py",
      ),
      proof(
        /arallel size \((?<worldSize>\d+)\) cannot be larger than the number of available GPUs \((?<gpus>\d+)\)/,
        "vllm 0.12 config/parallel.py",
      ),
      proof(
        /please set tensor_parallel_size \((?<worldSize>\d+)\) to less than max local gpu count \((?<gpus>\d+)\)/,
        "vllm 0.4, 0.5",
      ),
      proof(/ is out of bounds for (?<gpus>\d+) devices/, "vllm 0.32.0 v1/worker/gpu_worker.py"),
      proof(
        /replica size \((?<worldSize>\d+)\) exceeds the number of visible/,
        "vllm 0.32.0 v1/worker/xpu_worker.py",
      ),
      proof(/--device-ids index \d+ is out of range/, "vllm 0.32.0 engine/arg_utils.py"),
      error(/invalid device ordinal/, "CUDA error 101"),
    ],
  },
];

/** "1, 2 or 4": the divisors up to a limit. */
function divisorsOf(heads: number, limit: number): string {
  const all = Array.from({ length: Math.min(heads, limit) }, (_unused, at) => at + 1).filter(
    (one) => heads % one === 0,
  );
  return all.length === 1 ? "1" : `${all.slice(0, -1).join(", ")} or ${String(all.at(-1))}`;
}

/** A kernel of another platform says nothing of the checkpoint; neither does one whose shape alone is wrong, which is a cause of its own. */
function isOfThisPlatform(reason: string): boolean {
  return !/only supported on|requires (?:CUDA|ROCm|CPU|XPU|aiter|FlashInfer|setting)|not installed|not available|divisible|evenly divide|put size .* multiples/.test(
    reason,
  );
}
