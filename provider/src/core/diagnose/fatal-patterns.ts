/**
 * Lines after which a start is certainly lost, although the process may live on for a while.
 * Regular expressions that mean the same in Python's re.search and in JavaScript: no named groups, no look-behind.
 * Source: vllm 0.6 to 0.33; none of them is printed by a server that comes up.
 */
const FATAL_PATTERNS: readonly string[] = [
  "EngineCore failed to start\\.",
  "WorkerProc failed to start\\.",
  "Engine core initialization failed\\.",
  "Engine process failed to start\\.",
  "RPCServer process died before responding",
  "WorkerProc initialization failed due to an exception",
  "EngineCore (hit an exception|encountered a fatal error)",
  "(Engine core proc|Worker proc) \\S+ died unexpectedly",
  "Timed out waiting for engine(s to send ?initial message| core processes to start)",
  "^(vllm|vllm serve|api_server\\.py): error: ",
];

/** Patterns for the agent that waits for a start (WaitStep.fatalPatterns). */
export function fatalPatterns(): readonly string[] {
  return FATAL_PATTERNS;
}
