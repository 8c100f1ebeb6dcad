import { spawn } from "node:child_process";
import { join } from "node:path";

/** The program as a user starts it; the build puts what it loads into dist. */
export const PROGRAM = join(import.meta.dirname, "..", "..", "provider", "bin", "pulumi-vllm.js");

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `pulumi-vllm` to its end. @param input what it reads from standard input; default: nothing */
export function runProgram(words: readonly string[], cwd?: string, input?: Uint8Array): Promise<Ran> {
  return startProgram(words, { cwd, input }).result;
}

export interface RunningProgram {
  /** What it has said so far. */
  readonly said: { readonly out: string; readonly err: string };
  readonly result: Promise<Ran>;
  kill(signal: NodeJS.Signals): void;
}

export function startProgram(
  words: readonly string[],
  how: {
    readonly cwd?: string | undefined;
    readonly input?: Uint8Array | undefined;
    readonly env?: NodeJS.ProcessEnv | undefined;
  } = {},
): RunningProgram {
  const { input, ...options } = how;
  const child = spawn(process.execPath, [PROGRAM, ...words], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  // A program that does not read to the end is none of what is tested.
  child.stdin.on("error", () => undefined).end(input);
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const result = new Promise<Ran>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, ...said });
    });
  });
  return { said, result, kill: (signal) => void child.kill(signal) };
}
