import type { ErrorCode } from "./errors";
import type { FINDINGS } from "./finding-codes";

export type FindingCode = ErrorCode | keyof typeof FINDINGS;

interface FindingBody {
  /** One clause, as it follows `Cannot start server "kimi" on gpu1: `. No secrets. */
  readonly summary: string;
  /** The fact that proves it, where the summary does not say it. */
  readonly evidence?: string | undefined;
  /** The input (or host action) to change. */
  readonly change?: string | undefined;
  /** Property path of the input at fault. */
  readonly path?: string | undefined;
  /** Whether the same inputs can succeed on a second try. Default: they cannot. */
  readonly retryable?: boolean | undefined;
}

/** It ends the operation, so its code is one that an operation can fail with. */
export interface ErrorFinding extends FindingBody {
  readonly severity: "error";
  readonly code: ErrorCode;
}

export interface Remark extends FindingBody {
  readonly severity: "warning" | "note";
  readonly code: FindingCode;
}

/** One thing seen on the host, or computed from what was seen there, before anything is stopped or started. */
export type Finding = ErrorFinding | Remark;

export function isError(finding: Finding): finding is ErrorFinding {
  return finding.severity === "error";
}
