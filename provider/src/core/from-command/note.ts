import { withoutCredentials } from "../url-credentials";

/** Something a person has to know about what became of the text. */
export interface Note {
  readonly code: NoteCode;
  /** A flag, a variable, an input path. */
  readonly subject: string;
  readonly text: string;
}

/** What a person does with a note: decide something, know that it means something else, know that it is gone. */
export type NoteGroup = "decide" | "changed" | "dropped";

/** Every code -> its group. A further code is one line here. */
export const NOTE_CODES = {
  "needs-value": "decide",
  "needs-file": "decide",
  "secret-from-variable": "decide",
  "secret-in-text": "decide",
  "secret-on-argv": "decide",
  "api-key-on-argv": "decide",
  "several-keys": "decide",
  "open-without-key": "decide",
  "relative-path": "decide",
  "unmapped-path": "decide",
  "image-tag": "decide",
  "uv-project": "decide",
  "privileged-port": "decide",
  "unknown-flag": "decide",
  "refused-value": "decide",
  modelscope: "decide",
  ray: "decide",
  tls: "decide",
  "other-accelerator": "decide",
  "gpu-order": "changed",
  "narrower-address": "changed",
  "served-name": "changed",
  "snapshot-path": "changed",
  "branch-revision": "changed",
  "runs-as": "changed",
  mount: "changed",
  "moved-flag": "changed",
  "moved-env": "changed",
  "renamed-flag": "changed",
  "renamed-env": "changed",
  "removed-later": "changed",
  "changed-meaning": "changed",
  "abbreviated-flag": "changed",
  "repeated-flag": "changed",
  "old-value-form": "changed",
  repaired: "changed",
  "repaired-typography": "changed",
  "missing-backslash": "changed",
  "comment-in-continuation": "changed",
  "config-file-ignored": "changed",
  "removed-flag": "dropped",
  "removed-env": "dropped",
  "owned-env": "dropped",
  "container-only": "dropped",
  "unit-only": "dropped",
  wrapper: "dropped",
} as const satisfies Readonly<Record<string, NoteGroup>>;
export type NoteCode = keyof typeof NOTE_CODES;

/** Notes in the order in which they came up, each once. */
export class Notes {
  readonly #notes = new Map<string, Note>();

  add(code: NoteCode, subject: string, text: string): void {
    const key = `${code} ${subject}`;
    if (!this.#notes.has(key)) this.#notes.set(key, { code, subject, text });
  }

  /** An input that the text does not say: it is left out. @param text as it stands there */
  addUnknown(inputPath: string, text: string): void {
    this.add("needs-value", inputPath, `${withoutCredentials(text)} is not known from the text; left out`);
  }

  addAll(notes: readonly Note[]): void {
    for (const { code, subject, text } of notes) this.add(code, subject, text);
  }

  all(): readonly Note[] {
    return [...this.#notes.values()];
  }
}

/** Why a text does not become a server. Match on these, never on text. */
export type RejectionCode =
  | "no-server"
  | "several-servers"
  | "multi-node"
  | "model-twice"
  | "needs-file"
  | "bad-json"
  | "stray-word"
  | "unknown-flag"
  | "gguf-quant-suffix"
  | "broken-text"
  | "not-supported";

export class Rejected extends Error {
  readonly code: RejectionCode;
  /** What of the text it is about; may be empty. */
  readonly subject: string;

  constructor(code: RejectionCode, subject: string, message: string) {
    super(message);
    this.name = "Rejected";
    this.code = code;
    this.subject = subject;
  }
}

/** What to tell of it: one line. */
export function rejectionText({ code, subject, message }: Rejected): string {
  return `Cannot make a VllmServer of this text: ${code}${subject === "" ? "" : ` ${subject}`}: ${message}`;
}
