import type { ClientChannel } from "ssh2";
import type { ExecOptions, ExecResult } from "./transport";

const STDERR_BYTES = 64 * 1024;

/** Feeds a command and collects what it gives, until its channel closes. ssh2 holds the rest of stdin back while the host's window is full. */
export function runChannel(channel: ClientChannel, options: ExecOptions): Promise<ExecResult> {
  return new Promise((resolve) => {
    let exitCode: number | null = null;
    let signal: string | null = null;
    const stderr = new Tail(STDERR_BYTES);
    channel.on("data", options.onStdout);
    channel.stderr.on("data", (chunk: Buffer) => {
      stderr.add(chunk);
    });
    channel.on("exit", (code: number | null, name?: string) => {
      exitCode = code;
      signal = name ?? null;
    });
    // A command may end before it has read everything; what counts is how it ended.
    channel.on("error", () => undefined);
    channel.once("close", () => {
      resolve({ exitCode, signal, stderr: stderr.text() });
    });
    channel.end(Buffer.from(options.stdin));
  });
}

/** Keeps the last bytes of a stream. */
class Tail {
  readonly #bytes: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  add(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#kept = all.subarray(Math.max(0, all.length - this.#bytes));
  }

  text(): string {
    return this.#kept.toString("utf8");
  }
}
