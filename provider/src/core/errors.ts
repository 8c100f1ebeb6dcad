import type { FailureCause } from "./diagnose/causes";

/**
 * Every way an operation can fail. Match on these, never on text.
 * Causes of a failed vLLM start have their own closed list (diagnose/causes.ts) and come inside START_FAILED.
 */
export const ERROR_CODES = [
  "INPUT_INVALID",
  "HOST_UNREACHABLE",
  "HOST_KEY_UNKNOWN",
  "HOST_KEY_CHANGED",
  "HOST_KEY_REVOKED",
  "AUTHENTICATION_FAILED",
  "CONNECTION_LOST",
  "PYTHON_MISSING",
  "PYTHON_TOO_OLD",
  "AGENT_REPLY_BROKEN",
  "AGENT_DEADLINE",
  "AGENT_CRASHED",
  "DISK_FULL",
  "PERMISSION_DENIED",
  "VLLM_NOT_FOUND",
  "FLAG_UNKNOWN",
  "CHECKPOINT_NOT_FOUND",
  "CHECKPOINT_CORRUPT",
  "HUB_GATED",
  "HUB_REPO_NOT_FOUND",
  "HUB_REVISION_NOT_FOUND",
  "HUB_UNREACHABLE",
  "HUB_RATE_LIMITED",
  "DOWNLOAD_STALLED",
  "DOWNLOAD_FAILED",
  "INSTALLER_MISSING",
  "INSTALL_FAILED",
  "WHEEL_UNSUITABLE",
  "CONFIG_PATCH_REJECTED",
  "INCOMPATIBLE",
  "GPU_MEMORY_TOO_SMALL",
  "GPU_NOT_FOUND",
  "GPUS_NOT_FREE",
  "GPU_PROHIBITED",
  "SHM_TOO_SMALL",
  "PORT_IN_USE",
  "PORT_LOST",
  "HOST_LOCKED",
  "CHANGED_MEANWHILE",
  "OWNED_BY_ANOTHER",
  "MANAGER_UNAVAILABLE",
  "SERVICE_MANAGER_FAILED",
  "START_FAILED",
  "START_TIMEOUT",
  "START_HUNG",
  "KV_CACHE_DTYPE_LOST",
  "STOP_INCOMPLETE",
  "GPU_MEMORY_HELD",
  "SERVER_REPLACED",
  "LOG_NOT_FOUND",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export function isErrorCode(text: string): text is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(text);
}

export interface ErrorDetails {
  readonly code: ErrorCode;
  /** "Cannot <verb> <object>: <found>, need <wanted>". One line, no secrets. */
  readonly summary: string;
  /** The line or fact that proves it. */
  readonly evidence?: string | undefined;
  /** Where the evidence stands, e.g. "worker 3, log line 1412". */
  readonly evidencePlace?: string | undefined;
  /** The input (or host action) to change, e.g. `kvCacheDtype: "bfloat16"`. */
  readonly change?: string | undefined;
  /** Property path of the input at fault, e.g. "engine.maxModelLen". */
  readonly path?: string | undefined;
  /** A command that shows the whole log. */
  readonly logCommand?: string | undefined;
  /** What went wrong beside it, e.g. that a failed start could not be ended. */
  readonly also?: string | undefined;
  /** Whether the same inputs can succeed on a second try. */
  readonly retryable: boolean;
  /** For HOST_UNREACHABLE: no machine answered at all. false: something did, or it is this machine's network that does not work. */
  readonly isSilence?: boolean | undefined;
  /** For a start that was refused beforehand: each thing that stands in its way, the first included. */
  readonly problems?: readonly ErrorProblem[] | undefined;
  /** For START_FAILED: which cause of the closed list. */
  readonly failureCause?: FailureCause | undefined;
  readonly cause?: unknown;
}

/** One of several things that are wrong; its members as in ErrorDetails. */
export interface ErrorProblem {
  readonly code: ErrorCode;
  /** One clause. */
  readonly summary: string;
  readonly evidence?: string | undefined;
  readonly change?: string | undefined;
  readonly path?: string | undefined;
}

/** The one error class. Its text is composed here and nowhere else. */
export class VllmServerError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(details: ErrorDetails) {
    super(renderError(details), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "VllmServerError";
    this.code = details.code;
    this.details = details;
  }
}

/** The same failure, and what is to be told beside it. */
export function withAlso({ details }: VllmServerError, also: string): VllmServerError {
  return new VllmServerError({ ...details, also });
}

/** What the user reads: the summary, then proof, change and log, one line each. */
function renderError(details: ErrorDetails): string {
  const lines = [details.summary];
  if (details.evidence !== undefined) {
    const place = details.evidencePlace === undefined ? "" : `   (${details.evidencePlace})`;
    lines.push(`  proof:  ${details.evidence}${place}`);
  }
  if (details.change !== undefined) lines.push(`  change: ${details.change}`);
  if (details.problems !== undefined && details.problems.length > 1)
    lines.push(...details.problems.flatMap(renderProblem));
  if (details.also !== undefined) lines.push(`  also:   ${details.also}`);
  if (details.logCommand !== undefined) lines.push(`  log:    ${details.logCommand}`);
  if (details.code === "START_FAILED" && !details.retryable) lines.push("  a retry will not help");
  return lines.join("\n");
}

/** One of a numbered list. */
function renderProblem({ path, summary, evidence, change }: ErrorProblem, index: number): readonly string[] {
  const place = path === undefined || summary.includes(path) ? "" : `${path}: `;
  return [
    `  ${String(index + 1)}. ${place}${summary}`,
    ...(evidence === undefined ? [] : [`     proof:  ${evidence}`]),
    ...(change === undefined || change === path ? [] : [`     change: ${change}`]),
  ];
}
