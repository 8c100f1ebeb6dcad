/** What a command writes to, so that it decides by itself what is told and what is data. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Exit codes of every command: done, could not be done, not understood. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One word behind `pulumi-vllm`. */
export interface Command {
  readonly name: string;
  /** One line of `pulumi-vllm --help`. */
  readonly summary: string;
  /** Whole text of `pulumi-vllm NAME --help`. */
  readonly help: string;
  /** Never throws for what a user can do wrong. */
  readonly run: (words: readonly string[], terminal: Terminal) => ExitCode | Promise<ExitCode>;
}
