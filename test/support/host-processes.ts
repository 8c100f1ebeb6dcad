import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { descendantsOf, executableOf, killQuietly } from "./process-tree.ts";

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/**
 * Live processes of the hosts whose HOME is one of these: vLLM's and their supervisors; sshd and the test itself not. The
 * environment tells whose a process is, never its command line; vLLM's children have none and are found by their parent.
 */
export function processesOfHosts(homes: readonly string[]): readonly HostProcess[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const own = all.filter((pid) => isOfHome(pid, homes)).map(Number);
  return [...new Set([...own, ...descendantsOf(...own)])].flatMap((pid): readonly HostProcess[] => {
    const stat = readQuietly(`/proc/${String(pid)}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields.length < 2 || fields[0] === "Z") return [];
    const command = readQuietly(`/proc/${String(pid)}/cmdline`)
      .replaceAll("\0", " ")
      .trim();
    return [{ pid, parent: Number(fields[1]), command }];
  });
}

/** Shared-memory files of Python that a process maps. */
export function sharedMemoryOf(pid: number): readonly string[] {
  const lines = readQuietly(`/proc/${String(pid)}/maps`).split("\n");
  return lines.flatMap((line) => /\/dev\/shm\/psm_\w+$/.exec(line)?.[0] ?? []);
}

/** For what should have ended by itself: ends it, and takes away the shared memory that would stay behind. */
export function endByForce(processes: readonly HostProcess[]): void {
  const files = new Set(processes.flatMap(({ pid }) => sharedMemoryOf(pid)));
  for (const { pid } of processes) killQuietly(pid);
  for (const file of files) rmSync(file, { force: true });
}

function isOfHome(pid: string, homes: readonly string[]): boolean {
  const environment = readQuietly(`/proc/${pid}/environ`).split("\0");
  // sshd's own children and the programs they run end with their connection.
  return (
    homes.some((home) => environment.includes(`HOME=${home}`)) &&
    !basename(executableOf(Number(pid)) ?? "").startsWith("sshd")
  );
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
