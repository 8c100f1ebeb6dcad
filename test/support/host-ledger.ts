import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endByForce, processesOfHosts } from "./host-processes.ts";
import { killQuietly, processesIn, startOf } from "./process-tree.ts";

/**
 * What the test hosts put into this machine is written down before it is made, so that a later run can take it away when this one was
 * killed. Nothing is found by its name: only what stands here is touched, and only when the process that wrote it is gone.
 */

/** In memory, as what it lists: a reboot takes both. */
const LEDGERS = "/run/pulumi-vllm-test-hosts";

export type Trace =
  | { readonly kind: "machine"; readonly pid: number; readonly start: string }
  | { readonly kind: "folder"; readonly path: string }
  /** A Pulumi project, and the CLI and plugins that run in its folder. */
  | { readonly kind: "project"; readonly path: string }
  /** Servers of a host on loopback: HOME is theirs alone. */
  | { readonly kind: "home"; readonly path: string }
  | { readonly kind: "namespace"; readonly name: string }
  | { readonly kind: "bridge"; readonly name: string }
  /** In each hierarchy that systemd manages. */
  | { readonly kind: "cgroup"; readonly name: string };

/** Hierarchies in which a machine's systemd keeps its units. */
const CGROUPS = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"] as const;

/** Variable that names the run to its processes. */
export const RUN = "PULUMI_VLLM_TEST_RUN";

interface Ledger {
  readonly run: string | null;
  readonly traces: readonly Trace[];
}

const own: Trace[] = [];

/** To be called before the thing is made (a machine: right after). */
export function note(trace: Trace): void {
  own.push(trace);
  write();
}

/** Takes these away, newest first; what is already gone is fine. */
export async function takeAway(traces: readonly Trace[]): Promise<void> {
  for (const trace of traces.toReversed()) {
    await undo(trace);
    if (own.includes(trace)) own.splice(own.indexOf(trace), 1);
  }
  write();
}

/**
 * Takes away what processes that no longer live have left; returns how many they were.
 * @param run a run that is over (RUN of its environment): its processes have some seconds to end, and are ended then
 */
export async function takeAwayOfTheDead(run: string | null = null): Promise<number> {
  const names = quietly(() => readdirSync(LEDGERS), []).filter((name) => name.endsWith(".json"));
  let dead = 0;
  for (const name of names) {
    const [pid, start] = name.replace(".json", "").split("-");
    const isOver = (): boolean => startOf(Number(pid)) !== start;
    const ledger = read(name);
    if (ledger === null) continue;
    if (run !== null && ledger.run === run) {
      await until(isOver);
      if (!isOver()) killQuietly(Number(pid));
      await until(isOver);
    }
    if (!isOver()) continue;
    for (const trace of ledger.traces.toReversed()) await undo(trace);
    rmSync(join(LEDGERS, name), { force: true });
    dead += 1;
  }
  return dead;
}

/** null: gone, or in a form that this version does not know. */
function read(name: string): Ledger | null {
  const found: Partial<Ledger> | null = quietly(
    () => JSON.parse(readFileSync(join(LEDGERS, name), "utf8")),
    null,
  );
  return Array.isArray(found?.traces) ? { run: found.run ?? null, traces: found.traces } : null;
}

function write(): void {
  const path = join(LEDGERS, `${String(process.pid)}-${startOf(process.pid)}.json`);
  if (own.length === 0) rmSync(path, { force: true });
  else {
    mkdirSync(LEDGERS, { recursive: true, mode: 0o700 });
    const ledger: Ledger = { run: process.env[RUN] ?? null, traces: own };
    writeFileSync(path, JSON.stringify(ledger));
  }
}

async function undo(trace: Trace): Promise<void> {
  switch (trace.kind) {
    case "machine":
      // Its PID 1 and all it runs die with it.
      if (startOf(trace.pid) === trace.start) killQuietly(trace.pid);
      await until(() => startOf(trace.pid) !== trace.start);
      return;
    case "home":
      endByForce(processesOfHosts([trace.path]));
      // What a supervisor started just before it ended.
      endByForce(processesOfHosts([trace.path]));
      return;
    case "project":
      for (const pid of processesIn(trace.path)) killQuietly(pid);
      await undo({ kind: "folder", path: trace.path });
      return;
    case "folder":
      await until(() => quietly(() => (rmSync(trace.path, { recursive: true, force: true }), true), false));
      return;
    case "namespace":
      ip("netns", "del", trace.name);
      return;
    case "bridge":
      ip("link", "del", trace.name);
      return;
    case "cgroup":
      for (const hierarchy of CGROUPS) await until(() => removeCgroup(join(hierarchy, trace.name)));
      return;
    default:
      return trace satisfies never;
  }
}

/** Deepest first; false while a process that is just ending is still in it. */
function removeCgroup(folder: string): boolean {
  const entries = quietly(() => readdirSync(folder, { withFileTypes: true }), null);
  if (entries === null) return true;
  const isEmpty = entries.every((entry) => !entry.isDirectory() || removeCgroup(join(folder, entry.name)));
  return isEmpty && quietly(() => (rmdirSync(folder), true), false);
}

/** Bounded: what cannot be taken away must not hold up the rest. */
async function until(isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 100 && !isDone(); tries += 1) await delay(50);
}

function ip(...words: readonly string[]): void {
  quietly(() => execFileSync("ip", words, { stdio: "ignore" }), null);
}

function quietly<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
