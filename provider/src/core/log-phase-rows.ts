/** What a start is doing, in the order it happens. */
export const PHASES = [
  "importing",
  "configuring",
  "starting engine",
  "connecting workers",
  "reading files",
  "loading weights",
  "weights loaded",
  "compiling",
  "profiling memory",
  "sizing KV cache",
  "warming up",
  "capturing piecewise graphs",
  "capturing full graphs",
  "graphs captured",
  "engine ready",
  "starting API server",
  "API server up",
] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseRow {
  readonly phase: Phase;
  /** Against the message alone; named groups fill the text, `percent` is the percentage. */
  readonly pattern: RegExp;
  /** {name} is a group; a part in [] is left out when a group of it is missing. */
  readonly text: string;
  /** Version and file. */
  readonly source: string;
}

const V32 = "vllm 0.32.0";

export const PHASE_ROWS: readonly PhaseRow[] = [
  {
    phase: "importing",
    pattern: /^Automatically detected platform (?<platform>\w+)/,
    text: "importing",
    source: "vllm 0.6 to 0.33 platforms/__init__.py",
  },
  {
    phase: "configuring",
    pattern: /vLLM (?:API )?server version (?<version>[^\s,]+)/,
    text: "vLLM {version} reads its configuration",
    source: `${V32} entrypoints/utils/api_utils.py:347`,
  },
  {
    phase: "configuring",
    pattern: /\bversion +(?<version>\d+\.\d\S*)$/,
    text: "vLLM {version} reads its configuration",
    source: `${V32} entrypoints/utils/api_utils.py:347`,
  },
  {
    phase: "configuring",
    pattern: /^non-default args: /,
    text: "reading the configuration",
    source: `${V32} entrypoints/utils/api_utils.py:286`,
  },
  {
    phase: "configuring",
    pattern: /^Resolved architecture: (?<architecture>\S+)/,
    text: "configuring {architecture}",
    source: `${V32} config/model.py:733`,
  },
  {
    phase: "starting engine",
    pattern: /^Initializing an? (?:V1 )?LLM engine/,
    text: "starting the engine",
    source: `${V32} v1/engine/core.py:133`,
  },
  {
    phase: "connecting workers",
    pattern: /^world_size=(?<world>\d+) rank=/,
    text: "connecting {world} workers",
    source: `${V32} distributed/parallel_state.py:1906`,
  },
  {
    phase: "connecting workers",
    pattern: /^vLLM is using nccl==/,
    text: "connecting the GPUs (NCCL)",
    source: `${V32} pynccl.py:148`,
  },
  {
    phase: "reading files",
    pattern: /^Prefetching checkpoint files: +(?<percent>\d+)% \((?<done>\d+)\/(?<total>\d+)\)/,
    text: "reading checkpoint files {percent} % ({done}/{total})",
    source: `${V32} weight_utils.py:1043`,
  },
  {
    phase: "loading weights",
    pattern: /^Starting to load model /,
    text: "loading weights",
    source: `${V32} v1/worker/gpu_model_runner.py:5040`,
  },
  {
    phase: "loading weights",
    pattern: /^Loading model from scratch\.\.\./,
    text: "loading weights",
    source: `${V32} v1/worker/gpu/model_runner.py:392`,
  },
  {
    phase: "loading weights",
    pattern:
      /^(?:Loading|Multi-thread loading) [^:]*: +(?<percent>\d+)% Completed \| (?<done>\d+)\/(?<total>\d+)/,
    text: "loading weights {percent} % ({done}/{total} shards)",
    source: `${V32} weight_utils.py:837, 1094 to 1465`,
  },
  {
    phase: "weights loaded",
    pattern: /^Loading weights took (?<seconds>[\d.]+) seconds/,
    text: "weights loaded in {seconds} s",
    source: `${V32} default_loader.py:502`,
  },
  {
    phase: "weights loaded",
    pattern: /^Model loading took (?<gib>[\d.]+) Gi?B/,
    text: "weights loaded, {gib} GiB on each GPU",
    source: `${V32} v1/worker/gpu/model_runner.py:425; GB before 0.8.2`,
  },
  {
    phase: "compiling",
    pattern: /^Using cache directory: \S+ for vLLM's torch\.compile/,
    text: "compiling",
    source: `${V32} compilation/backends.py:1105`,
  },
  {
    phase: "compiling",
    pattern: /^Start(?:ing|ed)? torch\.compile/,
    text: "compiling",
    source: `${V32} compilation/monitor.py:40`,
  },
  {
    phase: "compiling",
    pattern: /^Dynamo bytecode transform time/,
    text: "compiling",
    source: `${V32} compilation/backends.py:1167`,
  },
  {
    phase: "compiling",
    pattern: /^Compiling a graph for/,
    text: "compiling",
    source: `${V32} compilation/backends.py:399`,
  },
  {
    phase: "compiling",
    pattern: /^Directly load the compiled graph/,
    text: "loading compiled graphs",
    source: `${V32} compilation/backends.py:296`,
  },
  {
    phase: "compiling",
    pattern: /^torch\.compile (?:takes|took) (?<seconds>[\d.]+) s in total/,
    text: "compiled in {seconds} s",
    source: `${V32} compilation/monitor.py:20`,
  },
  {
    phase: "profiling memory",
    pattern: /^Profiling CUDA graph memory: /,
    text: "measuring memory",
    source: `${V32} v1/worker/gpu_model_runner.py:6369`,
  },
  {
    phase: "profiling memory",
    pattern: /^Available KV cache memory: (?<gib>-?[\d.]+) GiB/,
    text: "{gib} GiB for the KV cache",
    source: `${V32} v1/worker/gpu_worker.py:759`,
  },
  {
    phase: "sizing KV cache",
    pattern:
      /^(?:GPU|CPU) KV cache size: (?<tokens>[\d,]+) tokens(?:, Maximum concurrency for [\d,]+ tokens per request: (?<concurrency>[\d.]+)x)?/,
    text: "KV cache {tokens} tokens[, {concurrency}x concurrency]",
    source: `${V32} v1/core/kv_cache_utils.py:2327; one line since 0.32`,
  },
  {
    phase: "sizing KV cache",
    pattern: /^Maximum concurrency for (?<tokens>[\d,]+) tokens per request: (?<concurrency>[\d.]+)x/,
    text: "KV cache for {concurrency} requests of {tokens} tokens",
    source: "vllm 0.6 to 0.31 v1/core/kv_cache_utils.py",
  },
  {
    phase: "warming up",
    pattern: /^DeepGEMM warmup(?:.*?(?<percent>\d+)%)?/,
    text: "warming up kernels[ {percent} %]",
    source: `${V32} model_executor/warmup`,
  },
  {
    phase: "warming up",
    pattern: /^(?:Compiling CuTeDSL kernels|JIT kernel warmup)/,
    text: "warming up kernels",
    source: `${V32} model_executor/warmup`,
  },
  {
    phase: "capturing full graphs",
    pattern: /^Capturing CUDA graphs? .*FULL\): +(?<percent>\d+)%/,
    text: "capturing CUDA graphs (full) {percent} %",
    source: `${V32} v1/worker/gpu/cudagraph_utils.py:456`,
  },
  {
    phase: "capturing piecewise graphs",
    pattern: /^Capturing CUDA graphs?.*?: +(?<percent>\d+)%/,
    text: "capturing CUDA graphs {percent} %",
    source: `${V32} v1/worker/gpu_model_runner.py:6657; "shapes" before 0.11`,
  },
  {
    phase: "graphs captured",
    pattern: /^Graph capturing finished in (?<seconds>\d+) secs/,
    text: "CUDA graphs captured in {seconds} s",
    source: `${V32} v1/worker/gpu/model_runner.py:1128`,
  },
  {
    phase: "engine ready",
    pattern: /^init engine \(profile, create kv cache, warmup model\) took (?<seconds>[\d.]+) s/,
    text: "engine ready in {seconds} s",
    source: `${V32} v1/engine/core.py:386`,
  },
  {
    phase: "starting API server",
    pattern: /^Supported tasks: /,
    text: "starting the API server",
    source: `${V32} entry.py:136`,
  },
  {
    phase: "starting API server",
    pattern: /^Starting vLLM (?:API )?server/,
    text: "starting the API server",
    source: `${V32} entry.py:140`,
  },
  {
    phase: "API server up",
    pattern: /^Application startup complete\./,
    text: "the API server is up",
    source: "uvicorn",
  },
];
