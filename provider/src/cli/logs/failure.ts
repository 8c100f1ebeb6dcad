/** Why no log could be shown. */
export type LogsFailureCode =
  "pulumi-not-found" | "stack-not-readable" | "server-not-found" | "server-ambiguous" | "host-not-readable";

/** One that the user can do something about. */
export class LogsFailure extends Error {
  readonly code: LogsFailureCode;

  constructor(code: LogsFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "LogsFailure";
    this.code = code;
  }
}
