import { spawn } from "node:child_process";
import { once } from "node:events";
import { childSeconds } from "./machine.ts";
import { demandGoingOn } from "./interruption.ts";

/** Seconds of one program, by the clock and by the processor. */
export interface Ran {
  readonly wall: number;
  readonly processor: number;
}

/** Runs a program to its end; nothing else may end meanwhile that this process has started. Fails when it does. */
export async function runProgram(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = { PATH: "/usr/bin:/bin" },
): Promise<Ran> {
  demandGoingOn();
  const [program = "", ...args] = argv;
  const before = childSeconds();
  const begin = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code, signal] = await once(child, "exit");
  const wall = (performance.now() - begin) / 1000;
  if (code !== 0) throw new Error(`${argv.slice(0, 3).join(" ")} ended with ${String(code ?? signal)}`);
  return { wall, processor: childSeconds() - before };
}
