import { basename } from "node:path";
import { descendantsOf, executableOf, killQuietly } from "../test/support/process-tree.ts";

let interrupted = false;

/**
 * ^C or TERM ends the CLI that is being measured; the measurement then fails, and its clean-up takes away what it started.
 * That goes on by itself by design: without this, hundreds of processes would stay.
 */
export function endOnInterruption(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      console.error("interrupted: taking away what was started");
      interrupted = true;
      const clis = descendantsOf(process.pid).filter((pid) => basename(executableOf(pid) ?? "") === "pulumi");
      for (const pid of clis) killQuietly(pid);
    });
  }
}

/** @throws after an interruption */
export function demandGoingOn(): void {
  if (interrupted) throw new Error("interrupted");
}
