export interface SurvivedError {
  readonly pattern: RegExp;
  /** A traceback comes with it: the lines of the same record, or those up to its exception where lines have no prefix. */
  readonly hasTraceback: boolean;
  /** Version and file. */
  readonly source: string;
}

/**
 * Errors that are printed and then lived with: tried again, or done without. What they say explains a failure only when nothing else
 * does, and never makes one. Matched against one message without its prefixes.
 */
export const SURVIVED_ERRORS: readonly SurvivedError[] = [
  once(
    /^Error retrieving (?:safetensors|file list)/,
    "vllm 0.10 to 0.33 transformers_utils/repo_utils.py:127",
  ),
  once(/, retrying \d+ of \d+$/, "vllm 0.10 to 0.33 transformers_utils/repo_utils.py:127"),
  once(/thrown while requesting/, "huggingface_hub utils/_http.py http_backoff"),
  once(/^Retrying in \d/, "huggingface_hub utils/_http.py http_backoff"),
  once(/^Failed to import Triton kernels/, "vllm 0.10 to 0.33 fused_moe/config.py:36"),
  once(/^Cannot use FA version/, "vllm 0.8 to 0.33 v1/attention/backends/fa_utils.py:213"),
  once(/Skipping tactic /, "flashinfer autotuner.py"),
  // At every start on a machine whose hard limit is below 65535.
  once(
    /^Found ulimit of \d+ and failed to automatically increase/,
    "vllm 0.10 to 0.32 utils/system_utils.py:255",
  ),
  once(/^mkdir -p failed for path/, "matplotlib __init__.py"),
  withTraceback(/^Failed to load plugin /, "vllm 0.6 to 0.33 plugins/__init__.py:72"),
  withTraceback(/falling back to disk loading/, "vllm 0.32.0 model_loader/weight_cache/ipc_loader.py:229"),
  withTraceback(/; use the NCCL fallback/, "vllm 0.32.0 models/inkling/nvidia/ops/lamport.py:782"),
  withTraceback(/^Error saving model info cache/, "vllm 0.11 to 0.33 model_executor/models/registry.py:1041"),
  withTraceback(/^ST projector loading failed/, "vllm 0.11 to 0.33 model_executor/models/adapters.py:66"),
  withTraceback(/^Chat template warmup failed/, "vllm 0.14 entrypoints/openai/serving_chat.py"),
  withTraceback(/^Exception in thread .*_report_usage/, "vllm usage/usage_lib.py, Python threading"),
  withTraceback(/^Exception ignored in/, "Python: an error in a destructor"),
];

function once(pattern: RegExp, source: string): SurvivedError {
  return { pattern, hasTraceback: false, source };
}

function withTraceback(pattern: RegExp, source: string): SurvivedError {
  return { pattern, hasTraceback: true, source };
}

/** Unprefixed tracebacks longer than this end without their exception. */
const LONGEST_TRACEBACK = 200;

/** Knows which lines belong to an error that the program lived with. Fed in the order of the log. */
export class SurvivedRecords {
  /** Everything a logger puts before the message of one record is the same on each of its lines: process, time, place in the source. */
  private readonly prefixes = new Set<string>();
  private openSince: number | null = null;

  /** @param isException whether the line names an exception: the end of a traceback without prefixes. */
  holds(
    line: { readonly raw: string; readonly text: string },
    lineNumber: number,
    isException: boolean,
  ): boolean {
    const known = SURVIVED_ERRORS.find((one) => one.pattern.test(line.text));
    const prefix = line.raw.slice(0, line.raw.length - line.text.length);
    if (known !== undefined) {
      if (known.hasTraceback && prefix !== "") this.prefixes.add(prefix);
      if (known.hasTraceback && prefix === "") this.openSince = lineNumber;
      return true;
    }
    if (prefix !== "") return this.prefixes.has(prefix);
    if (this.openSince === null || lineNumber - this.openSince > LONGEST_TRACEBACK) return false;
    if (isException) this.openSince = null;
    return true;
  }
}
