import { PHASE_ROWS } from "../log-phase-rows";
import { anchorOf } from "./anchors";

/** Lines that say where in its life a server is, rather than what is wrong with it. */
export type MarkName = "progress" | "ready" | "failed" | "stopping" | "finished" | "signal";

export interface Mark {
  readonly name: MarkName;
  readonly pattern: RegExp;
  readonly source: string;
}

export const MARKS: readonly Mark[] = [
  // The start goes on: whatever was said before did not end it.
  ...PHASE_ROWS.filter((row) => anchorOf(row.pattern).length >= 4).map(({ pattern, source }): Mark => ({
    name: "progress",
    pattern,
    source,
  })),
  { name: "ready", pattern: /^Application startup complete\./, source: "uvicorn; vllm 0.8 to 0.33" },
  {
    name: "stopping",
    pattern: /^\[shutdown\] API server: shutdown triggered/,
    source: "vllm 0.32.0 entrypoints/launchers/launcher.py:254",
  },
  { name: "stopping", pattern: /^Shutting down$/, source: "uvicorn server.py" },
  { name: "finished", pattern: /^Finished server process/, source: "uvicorn server.py" },
  {
    name: "signal",
    pattern: /^\[shutdown\] .*trigger received signal=/,
    source: "vllm 0.32.0 v1/engine/core.py:1455",
  },
  // Wrappers: something failed, and its reason stands elsewhere.
  { name: "failed", pattern: /^EngineCore failed to start/, source: "vllm 0.32.0 v1/engine/core.py:1510" },
  {
    name: "failed",
    pattern: /^WorkerProc failed to start/,
    source: "vllm 0.32.0 v1/executor/multiproc_executor.py:953",
  },
  {
    name: "failed",
    pattern: /^Error executing method /,
    source: "vllm 0.5 to 0.33 v1/worker/worker_base.py, under Ray",
  },
  {
    name: "failed",
    pattern: /^Exception in worker \w+ while processing method/,
    source: "vllm 0.5 to 0.8 executor/multiproc_worker_utils.py",
  },
  { name: "failed", pattern: /Engine core initialization failed/, source: "vllm 0.32.0 v1/engine/utils.py" },
  {
    name: "failed",
    pattern: /Engine process failed to start/,
    source: "vllm 0.6 engine/multiprocessing/client.py",
  },
  {
    name: "failed",
    pattern: /RPCServer process died before/,
    source: "vllm 0.5 entrypoints/openai/api_server.py",
  },
  {
    name: "failed",
    pattern: /EngineCore (?:hit an exception|encountered a(?:n issue| fatal error))/,
    source: "vllm 0.8 to 0.33 v1/engine/core.py",
  },
  { name: "failed", pattern: /EngineDeadError/, source: "vllm v1/engine/exceptions.py" },
  { name: "failed", pattern: /Engine background task failed/, source: "vllm 0.6 engine/async_llm_engine.py" },
  {
    name: "failed",
    pattern: / died unexpectedly/,
    source: "vllm 0.32.0 v1/executor/multiproc_executor.py:316, v1/utils.py:593",
  },
  {
    name: "failed",
    pattern: /Got fatal signal from worker processes/,
    source: "vllm 0.8 v1/engine/core_client.py",
  },
  {
    name: "failed",
    pattern: /^Worker VllmWorkerProcess pid \d+ died, exit code: /,
    source: "vllm 0.5 to 0.8 executor/multiproc_worker_utils.py",
  },
  {
    name: "failed",
    pattern: /^\*\*\* SIG(?:SEGV|ABRT|FPE|ILL) received/,
    source: "absl failure handler, in Ray",
  },
  { name: "failed", pattern: /^!!!!!!! Segfault encountered !!!!!!!/, source: "vllm 0.10 to 0.33, cpptrace" },
  { name: "failed", pattern: /^Fatal Python error: /, source: "CPython faulthandler" },
  { name: "failed", pattern: /\(core dumped\)/, source: "bash, dash" },
  {
    name: "failed",
    pattern: /^(?:vllm(?: serve)?|api_server\.py|[\w.-]+\.py): error: /,
    source: "argparse; exit 2",
  },
];

/** Values that stand in other lines than the error itself. The last one seen counts. Source: vllm 0.6 to 0.33 logs. */
export const CONTEXT_PATTERNS: readonly RegExp[] = [
  /non-default args: .*'tensor_parallel_size': (?<tensorParallelSize>\d+)/,
  /args: Namespace\(.*tensor_parallel_size=(?<tensorParallelSize>\d+)/,
  /non-default args: .*'quantization': '(?<quantizationArgument>[\w-]+)'/,
  /non-default args: .*'port': (?<port>\d+)/,
  /args: Namespace\(.*\bport=(?<port>\d+)/,
  /non-default args: .*'max_num_seqs': (?<maxNumSeqs>\d+)/,
  /non-default args: .*'kv_cache_dtype': '(?<kvCacheDtype>\w+)'/,
  /^Starting vLLM (?:API )?server.* on \S+?:(?<port>\d+)$/,
  /Available KV cache memory: (?<availableGiB>-?[\d.]+) GiB/,
  /Completed \| (?<shardsDone>\d+)\/(?<shardsTotal>\d+)/,
  /with CUDA capability sm_(?<sm>\d+) is not compatible/,
  /\b(?<httpStatus>4\d\d) Client Error/,
  /\b(?<httpStatus>5\d\d) Server Error/,
];
