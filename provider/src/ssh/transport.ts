/** What the rest of the product knows of SSH: one connection that runs commands. */
export interface Transport {
  /**
   * Runs one command, writes `stdin` whole and closes it, hands stdout over as it comes.
   * Fails with CONNECTION_LOST when the connection breaks and AGENT_DEADLINE after `deadlineSeconds`, which begin when it has its
   * turn on the connection.
   */
  exec(command: string, options: ExecOptions): Promise<ExecResult>;
  close(): void;
}

export interface ExecOptions {
  readonly stdin: Uint8Array;
  readonly onStdout: (chunk: Buffer) => void;
  readonly deadlineSeconds: number;
  /** Once it resolves, nothing more is of interest: the command loses its channel, so that others can have the place. */
  readonly enough?: Promise<unknown>;
}

export interface ExecResult {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The last 64 KiB. */
  readonly stderr: string;
}
