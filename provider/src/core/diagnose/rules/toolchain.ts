import type { CauseRule } from "../rule";
import { error, hint, proof, symptom, verdict } from "../signs";

/** Headers that come with the compiler or the C library. */
const C_HEADER_MISSING =
  /fatal error: '?(?:std\w+|limits|string|math|dlfcn|features|errno|assert|unistd|sys\/\w+|bits\/[\w.+/-]+|gnu\/[\w-]+|c(?:std\w+|assert|math|string|limits|errno)|iostream|vector|algorithm|memory)(?:\.h)?(?:: No such file or directory|' file not found)/;

export const TOOLCHAIN_RULES: readonly CauseRule[] = [
  {
    cause: "NVCC_NOT_FOUND",
    summary: [
      "a kernel must be built and there is no nvcc at {path}",
      "a kernel must be built and no usable nvcc was found",
    ],
    change: [
      'environment.CUDA_HOME and PATH: the folder of a CUDA toolkit, without a stray colon (it looked for {path}); or host: install the CUDA toolkit; or environment.VLLM_USE_FLASHINFER_SAMPLER: "0"',
      'host: install the CUDA toolkit, or environment.CUDA_HOME and PATH; or environment.VLLM_USE_FLASHINFER_SAMPLER: "0", or another engine.attentionBackend (--attention-backend)',
    ],
    signs: [
      verdict(/Could not find nvcc/, "flashinfer jit/cpp_ext.py"),
      verdict(/(?<!\S)(?<path>\S*nvcc): (?:command )?not found/, "sh, bash", { isBestEvidence: true }),
      verdict(/No such file or directory: '(?<path>[^']*nvcc)'/, "errno 2"),
      verdict(/nvcc: No such file or directory/, "sh"),
      proof(/CUDA_HOME environment variable is not set/, "torch utils/cpp_extension.py"),
      proof(/Could not find CUDA installation/, "flashinfer, deep_gemm"),
      proof(
        /fatal error: (?:cuda|cu|nv)\w*(?:\/\w+)*\.(?:h|hpp|cuh): No such file or directory/,
        "nvcc, gcc; flashinfer-ai/flashinfer#4410: headers of the toolkit are missing",
      ),
    ],
  },
  {
    cause: "NVCC_TOO_OLD",
    summary: ["nvcc is too old for this GPU or for the flags it gets"],
    change: [
      "host: a newer CUDA toolkit (12.9 or later for SM12x), and environment.CUDA_HOME and PATH for it",
    ],
    signs: [
      verdict(/nvcc fatal +: (?:Unsupported gpu architecture|Unknown option|Value)/, "nvcc", {
        isBestEvidence: true,
      }),
      verdict(/Unsupported gpu architecture '/, "nvcc"),
      proof(/requires CUDA ?>= ?[\d.]+/, "flashinfer"),
      proof(
        /No supported CUDA architectures found for major versions/,
        "flashinfer; flashinfer-ai/flashinfer#3633",
      ),
      error(
        /FlashInfer requires GPUs with sm75 or higher/,
        "flashinfer with an old nvcc; vllm-project/vllm#50705",
      ),
      error(/CUDA versions below 12\.\d/, "deep_gemm, flashinfer"),
    ],
  },
  {
    cause: "NINJA_NOT_FOUND",
    summary: ["a kernel must be built and ninja was not found"],
    change: [
      'host: install ninja in vLLM\'s environment, with its bin folder on environment.PATH; or environment.VLLM_USE_FLASHINFER_SAMPLER: "0"',
    ],
    signs: [
      verdict(/No such file or directory: '(?:\S*\/)?ninja'/, "errno 2"),
      verdict(/Ninja is required to load C\+\+ extensions/, "torch utils/cpp_extension.py"),
      verdict(/ninja: (?:command )?not found/, "sh"),
    ],
  },
  {
    cause: "C_COMPILER_NOT_FOUND",
    summary: ["Triton or Inductor needs a C compiler and there is none"],
    change: ["host: install gcc (build-essential), or environment.CC"],
    signs: [
      verdict(C_HEADER_MISSING, "gcc without its own headers; vllm-project/vllm#19656"),
      verdict(/Failed to find C compiler/, "triton runtime/build.py"),
      verdict(/No such file or directory: '(?:\S*\/)?(?:gcc|g\+\+|cc|c\+\+|clang)'/, "errno 2"),
      verdict(/No working C\+\+ compiler found/, "torch _inductor InvalidCxxCompiler"),
      verdict(/error trying to exec 'cc1plus'/, "gcc"),
      verdict(/cannot execute 'cc1plus'/, "gcc"),
      verdict(/g(?:cc|\+\+): (?:command )?not found/, "sh"),
    ],
  },
  {
    cause: "PYTHON_HEADERS_MISSING",
    summary: ["Triton needs Python.h and the headers of Python are not installed"],
    change: ["host: install python3-dev of vLLM's Python version"],
    signs: [verdict(/Python\.h: No such file or directory/, "gcc")],
  },
  {
    cause: "PTXAS_TOO_OLD",
    summary: ["Triton's ptxas does not know the GPU {gpuName}", "Triton's ptxas does not know this GPU"],
    change: [
      "environment.TRITON_PTXAS_PATH: the ptxas of CUDA 13 (12.9 or later), e.g. /usr/local/cuda/bin/ptxas",
    ],
    signs: [
      verdict(/ptxas fatal +: Value '(?<gpuName>[^']+)' is not defined for option 'gpu-name'/, "ptxas", {
        isBestEvidence: true,
      }),
      verdict(/ptxas .*Unsupported \.version/, "ptxas"),
      proof(/PTXAS error: /, "triton runtime/errors.py"),
    ],
  },
  {
    cause: "COMPILE_CACHE_CORRUPT",
    summary: ["an entry of the compile cache is broken"],
    change: [
      "host: delete torch_compile_cache in VLLM_CACHE_ROOT (~/.cache/vllm); environment.VLLM_CACHE_ROOT: one of its own for each server, or serialise starts",
    ],
    signs: [
      proof(/pickle data was truncated/, "Python pickle"),
      proof(
        /No such file or directory: '\S*(?:torch_compile_cache|torchinductor|inductor_cache|torch_aot_compile|\.triton)\S*'/,
        "errno 2",
      ),
      proof(/EOFError: Ran out of input/, "Python pickle"),
      proof(/(?:torch_compile_cache|torchinductor)\S*: file too short/, "dlopen"),
      proof(/: file too short/, "dlopen"),
      error(/Bytes object is corrupted/, "torch compiler cache"),
      error(/ache entry .*corrupt/, "torch _inductor"),
      error(/compile cache .*corrupt/, "vllm, torch"),
      error(/cached artifact .*(?:corrupt|stale|invalid)/, "torch"),
    ],
  },
  {
    cause: "LIBRARY_MISSING",
    summary: [
      "the user of the server may not read the shared library {library} ({denied})",
      "the shared library {library} is missing",
      "a shared library is missing",
    ],
    change: [
      "host: let the user of the server read {library} ({denied}: the folders above it count, too), or vllm.version for an environment of that user",
      "vllm.torchBackend: the CUDA version that is installed, or host: install the CUDA runtime that has {library}",
      "vllm.torchBackend: the CUDA version that is installed, or host: install the CUDA runtime",
    ],
    signs: [
      proof(
        /(?<library>lib[\w.+-]+\.so[\w.]*): cannot open shared object file: (?<denied>Permission denied)/,
        "dlopen, ld.so; vllm-project/vllm#15174",
      ),
      proof(/(?<library>lib[\w.+-]+\.so[\w.]*): cannot open shared object file/, "dlopen"),
      proof(/cannot find -l(?:cuda|cudart|stdc\+\+|gcc_s)\b/, "ld; vllm-project/vllm#16984"),
      error(/Could not load library (?<library>lib\S+)/, "cuDNN"),
      error(/Unable to load any of \{lib(?<library>\S+)\}/, "cuDNN"),
    ],
  },
  {
    cause: "EXTENSION_ABI_MISMATCH",
    summary: ["a compiled extension does not fit the installed torch"],
    change: ["host: reinstall matching versions of torch, vLLM and flash-attn (or uninstall flash-attn)"],
    signs: [
      proof(/\.so\S*: undefined symbol: /, "dlopen; vllm-project/vllm#9377"),
      proof(/undefined symbol: /, "dlopen"),
      symptom(/'_OpNamespace' '_\w+' object has no attribute/, "torch; an earlier import of vllm._C failed"),
      symptom(/No module named 'vllm\._\w*C'/, "Python"),
    ],
  },
  {
    cause: "GLIBC_TOO_OLD",
    summary: [
      "the C library of this host is older than {glibc}, which vLLM's binary needs",
      "the C or C++ library of this host is older than vLLM's binary needs",
    ],
    change: ["host: a newer OS or a container image with it; or a wheel built for this one"],
    signs: [
      verdict(/version `GLIBC_(?<glibc>[\d.]+)' not found/, "ld.so"),
      verdict(/version `(?:GLIBCXX|CXXABI)_(?<glibc>[\d.]+)' not found/, "ld.so"),
    ],
  },
  {
    cause: "PYTHON_PACKAGE_CONFLICT",
    summary: [
      "two Python packages do not fit: {package} has {have} and {want} is wanted",
      "two Python packages do not fit: {have} is there and {want} is wanted",
      "two Python packages of vLLM's environment do not fit each other",
    ],
    change: [
      "vllm.packages with a fitting {package}, or host: pin it in vLLM's environment",
      'vllm.packages with fitting versions of the packages that the log names, or host: install them (or environment.FLASHINFER_DISABLE_VERSION_CHECK: "1" for FlashInfer)',
    ],
    signs: [
      proof(/version \((?<have>[^)]+)\) does not match \w+ version \((?<want>[^)]+)\)/, "flashinfer"),
      proof(
        /(?<![\w-])(?<package>[\w-]+)(?<want>[<>=!]=?[\w.,<>=!]+) is required for a normal functioning of this module, but found \S+==(?<have>[\w.]+)/,
        "transformers dependency_versions_check",
      ),
      proof(/ is required for a normal functioning of this module/, "transformers dependency_versions_check"),
      symptom(/Numba needs NumPy (?<want>[\d.]+) or less\. Got NumPy (?<have>[\d.]+\d)/, "numba"),
      proof(/numpy\.dtype size changed/, "numpy"),
      proof(/A module that was compiled using NumPy 1\.x cannot be run/, "numpy"),
      error(/cannot import name '\w+' from '(?<package>(?!transformers|huggingface_hub|vllm)\w+)/, "Python"),
      error(/ has no attribute '(?:__version__|bfloat16|uint64|float8_\w+)'/, "torch, numpy"),
      error(
        /pkg_resources\.(?:VersionConflict|DistributionNotFound|ContextualVersionConflict)/,
        "setuptools",
      ),
      symptom(/is incompatible with .*(?:version|package)/, "pip, packages"),
    ],
  },
  {
    cause: "OPTIONAL_PACKAGE_MISSING",
    summary: [
      "the Python package {package} is missing or too old",
      "a Python package that these options need is missing",
    ],
    change: [
      "vllm.packages with {package}, or host: install it in vLLM's environment (pip install {package})",
      "vllm.packages with the package that the log names, or host: install it in vLLM's environment (pip install)",
    ],
    signs: [
      proof(/Please install (?<package>[\w-]+)(?![\w-])\S* (?:via|with|by|to) /, "vllm 0.6 to 0.33"),
      proof(/[Pp]lease install (?<package>vllm\[\w+\])/, "vllm 0.8 to 0.33"),
      proof(
        /packages that were not found in your environment: (?<package>[\w-]+)/,
        "transformers dynamic_module_utils.py",
      ),
      proof(
        /is required for .*Install via `pip install (?<package>[\w-]+)/,
        "vllm 0.32.0 config/speculative.py",
      ),
      proof(/requires the (?<package>[\w-]+) (?:library|package)/, "transformers, vllm"),
      proof(/Failed to import (?:the )?(?<package>Ray)\b/, "vllm 0.8 to 0.33"),
      proof(/(?<package>Ray) is not installed/, "vllm 0.8 to 0.33"),
      error(/No module named '(?<package>[A-Za-z]\w*)/, "Python", {
        accepts: (match) => !/^(?:transformers|vllm)/.test(match.groups?.["package"] ?? ""),
      }),
      proof(
        /requires the following packages that were not found in your environment: (?<package>[\w-]+)/,
        "transformers",
      ),
      proof(
        /Please install it with `?pip install (?<package>[\w-]+)/,
        "vllm 0.32.0 quantization/utils/mxfp4_utils.py",
      ),
      proof(/\b(?<package>\w+) is not installed\. Please install it/, "vllm 0.32.0"),
      error(/kernels not found\. Please follow/, "vllm 0.32.0 distributed/device_communicators/all2all.py"),
      hint(/pip install (?<package>[\w-]+)/, "packages"),
    ],
  },
];
