import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg, totalmem } from "node:os";

/** What a number depends on, without names: cores, memory, versions. */
export function machineFacts(): readonly string[] {
  const python = execFileSync("python3", ["--version"], { encoding: "utf8" }).trim();
  const ssh = /OpenSSH_[^ ,]+/.exec(execFileSync("sh", ["-c", "ssh -V 2>&1"], { encoding: "utf8" }))?.[0];
  return [
    `${String(availableParallelism())} cores, ${gib(totalmem())} GiB of memory`,
    `Node ${process.versions.node}, ${python}, ${ssh ?? "no ssh"}`,
    `load ${load()}`,
  ];
}

/** Load of the last minute: above a fraction of the cores somebody else works here too. */
export function load(): string {
  return (loadavg()[0] ?? 0).toFixed(2);
}

/** Memory that programs could still get, in GiB. Source: MemAvailable of /proc/meminfo. */
export function availableGib(): number {
  const kib = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
  return Number(kib) / 2 ** 20;
}

/**
 * Processor time, in seconds, of all programs that this process has run to their end, and of those they ran. Unlike wall time
 * it hardly depends on who else works on the machine. Source: cutime and cstime of proc(5), clock ticks of 10 ms.
 */
export function childSeconds(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Watches until `stop()`, which returns the least memory that was available meanwhile, in GiB. */
export function watchMemory(): { readonly stop: () => number } {
  let least = availableGib();
  const timer = setInterval(() => {
    least = Math.min(least, availableGib());
  }, 250);
  return {
    stop: () => {
      clearInterval(timer);
      return least;
    },
  };
}

function gib(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
