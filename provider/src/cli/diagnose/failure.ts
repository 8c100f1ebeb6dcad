/** Why a log was not judged. Match on these, never on text. */
export type DiagnoseFailureCode = "log-not-readable" | "log-not-text" | "log-empty";

/** One that the user can do something about; the message is one line. */
export class DiagnoseFailure extends Error {
  readonly code: DiagnoseFailureCode;

  constructor(code: DiagnoseFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "DiagnoseFailure";
    this.code = code;
  }
}
