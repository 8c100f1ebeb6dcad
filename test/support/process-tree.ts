import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Every live descendant of these processes, nearest first, as /proc shows it now. Processes that end while it looks are left out. */
export function descendantsOf(...pids: readonly number[]): readonly number[] {
  const childrenOf = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent === null) continue;
    const siblings = childrenOf.get(parent) ?? [];
    siblings.push(Number(name));
    childrenOf.set(parent, siblings);
  }
  const found: number[] = [];
  const waiting = [...pids];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const children = childrenOf.get(next) ?? [];
    found.push(...children);
    waiting.push(...children);
  }
  return found;
}

/** Processes whose working folder this is. */
export function processesIn(folder: string): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => linkOf(pid, "cwd") === folder);
}

/** Path of the program a process runs, or null when it is gone or not ours to read. */
export function executableOf(pid: number): string | null {
  return linkOf(pid, "exe");
}

function linkOf(pid: number, name: "cwd" | "exe"): string | null {
  try {
    return readlinkSync(`/proc/${String(pid)}/${name}`);
  } catch {
    return null;
  }
}

/** Its command line, "" when it is gone or not ours to read. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, "utf8")
      .replaceAll("\0", " ")
      .trim();
  } catch {
    return "";
  }
}

/** SIGKILL; a process that is already gone is fine. */
export function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone
  }
}

/** Clock ticks since boot at which it started, "" when it is gone: a pid alone may be somebody else's by now. */
export function startOf(pid: number): string {
  return statOf(pid)[19] ?? "";
}

function parentOf(pid: number): number | null {
  const parent = statOf(pid)[1];
  return parent === undefined ? null : Number(parent);
}

/** Fields of /proc/PID/stat from the state on: the command before them stands in parentheses and may hold spaces. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
