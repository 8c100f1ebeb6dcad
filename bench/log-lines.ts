/** Lines as vLLM 0.32 prints them while it serves, in turn; some hold words that diagnosis looks at, as they do for real. */
const SERVING: readonly ((turn: number) => string)[] = [
  (turn) =>
    `(APIServer pid=1) INFO 12-01 10:00:00 [loggers.py:257] Engine 000: Avg prompt throughput: ${String(1000 + (turn % 777))}.3 tokens/s, Avg generation throughput: ${String(200 + (turn % 99))}.1 tokens/s, Running: ${String(turn % 32)} reqs, Waiting: 0 reqs, GPU KV cache usage: 4.1%, Prefix cache hit rate: 44.2%`,
  (turn) =>
    `(APIServer pid=1) INFO:     127.0.0.1:${String(40000 + (turn % 20000))} - "POST /v1/chat/completions HTTP/1.1" 200 OK`,
  (turn) =>
    `(APIServer pid=1) INFO:     127.0.0.1:${String(40000 + (turn % 20000))} - "POST /v1/completions HTTP/1.1" 500 Internal Server Error`,
  (turn) =>
    `(APIServer pid=1) INFO 12-01 10:00:00 [logger.py:42] Received request chatcmpl-${(turn * 7919).toString(16)}: params: SamplingParams(n=1, presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, temperature=0.7, top_p=0.95, top_k=-1, seed=None, stop=[], max_tokens=${String(turn % 4096)}, min_tokens=0, logprobs=None), lora_request: None.`,
  (turn) =>
    `(Worker_TP${String(turn % 8)} pid=9${String(turn % 8)}) INFO 12-01 10:00:00 [gpu_model_runner.py:3338] Model loading took 70.1 GiB and 45.6 seconds`,
  () =>
    "(EngineCore_DP0 pid=77) INFO 12-01 10:00:00 [shm_broadcast.py:501] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation).",
  (turn) =>
    `(Worker_TP${String(turn % 8)} pid=9${String(turn % 8)}) WARNING 12-01 10:00:00 [fused_moe.py:886] Using default MoE config. Performance might be sub-optimal! Config file not found at /opt/venv/lib/python3.12/site-packages/vllm/model_executor/layers/fused_moe/configs/E=48,N=1024,device_name=NVIDIA_RTX_PRO_6000.json`,
];

/** A worker's traceback, as all ranks print it again and again. */
function traceback(turn: number): string {
  const place = `(Worker_TP${String(turn % 8)} pid=9${String(turn % 8)}) ERROR 12-01 10:00:00 [multiproc_executor.py:750] `;
  return [
    "WorkerProc failed to start.",
    "Traceback (most recent call last):",
    '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/executor/multiproc_executor.py", line 722, in worker_main',
    "    worker = WorkerProc(*args, **kwargs)",
    "             ^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.2 GiB is free.",
  ]
    .map((line) => place + line)
    .join("\n");
}

function bar(turn: number): string {
  return Array.from(
    { length: 20 },
    (_unused, step) =>
      `Loading safetensors checkpoint shards:  ${String(step * 5)}% Completed | ${String(step)}/163 [00:0${String(turn % 10)}<00:40,  1.${String(step)}it/s]`,
  ).join("\r");
}

const serving = (turn: number): string => SERVING[turn % SERVING.length]?.(turn) ?? "";
const WRAPPER =
  "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}";
const FAILED = [
  "(EngineCore pid=9) ERROR 12-01 10:00:00 [core.py:1] EngineCore failed to start.",
  "(EngineCore pid=9) ERROR 12-01 10:00:00 [core.py:1] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
  WRAPPER,
].join("\n");

export interface LogShape {
  readonly name: string;
  readonly first: string;
  readonly next: (turn: number) => string;
  /** Between them; default: a line end. */
  readonly separator?: string;
  readonly last: string;
  /** `code` that diagnose has to come to. */
  readonly code: string;
}

const STARTED = "(APIServer pid=1) INFO 12-01 10:00:00 [api_server.py:1977] vLLM API server version 0.32.0";

export const LOG_SHAPES: readonly LogShape[] = [
  {
    name: "healthy, serving",
    first: `${STARTED}\n(APIServer pid=1) INFO:     Application startup complete.`,
    next: serving,
    last: serving(0),
    code: "NO_FAILURE",
  },
  {
    name: "failed, told in the last lines",
    first: STARTED,
    next: serving,
    last: FAILED,
    code: "KV_CACHE_NO_MEMORY",
  },
  {
    name: "tracebacks of eight ranks",
    first: STARTED,
    next: traceback,
    last: WRAPPER,
    code: "GPU_OOM_STARTUP",
  },
  { name: "progress bars", first: STARTED, next: bar, last: FAILED, code: "KV_CACHE_NO_MEMORY" },
  {
    name: "one line without an end",
    first: STARTED,
    next: serving,
    separator: " ",
    last: FAILED,
    code: "KV_CACHE_NO_MEMORY",
  },
];
