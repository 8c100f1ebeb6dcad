import type { ErrorCode } from "./errors";

/** "error": a start is certain to fail, and nothing is stopped or started. "warning": it may fail. "note": worth knowing. */
export const SEVERITIES = ["error", "warning", "note"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What is found that is no way of an operation to fail by itself. Match on these, never on text. */
export const FINDING_CODES = ["GPU_MEMORY_ESTIMATE"] as const satisfies readonly string[];
export type FindingCode = ErrorCode | (typeof FINDING_CODES)[number];

/** One thing seen on the host, or computed from what was seen there, before anything is stopped or started. */
export interface Finding {
  readonly severity: Severity;
  readonly code: FindingCode;
  /** One clause, as it follows `Cannot start server "kimi" on gpu1: `. No secrets. */
  readonly summary: string;
  /** The fact that proves it, where the summary does not say it. */
  readonly evidence?: string | undefined;
  /** The input (or host action) to change. */
  readonly change?: string | undefined;
  /** Property path of the input at fault. */
  readonly path?: string | undefined;
  /** Whether the same inputs can succeed on a second try. */
  readonly retryable?: boolean | undefined;
}
