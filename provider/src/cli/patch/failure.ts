import type { PatchRejectionCode } from "../../core/config-patch";

/** Why nothing was patched. Match on these, never on text. */
export type PatchFailureCode =
  | PatchRejectionCode
  | "checkpoint-not-found"
  | "checkpoint-not-readable"
  | "overrides-not-readable"
  | "overrides-not-valid"
  | "output-not-empty"
  | "output-inside-checkpoint"
  | "output-not-writable";

/** One that the user can do something about; the message is one line. */
export class PatchFailure extends Error {
  readonly code: PatchFailureCode;

  constructor(code: PatchFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "PatchFailure";
    this.code = code;
  }
}

export function isFailure(error: unknown): error is PatchFailure {
  return error instanceof PatchFailure;
}

/** What the system says of a failed call, without the call: "permission denied". */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return /^[A-Z0-9]+: (.+?)(?:, \w+(?: '.*)?)?$/.exec(error.message)?.[1] ?? error.message;
}
