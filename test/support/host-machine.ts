import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { note, takeAway, type Trace } from "./host-ledger.ts";
import { killQuietly, startOf } from "./process-tree.ts";

/** A machine with its power on. */
export interface Machine {
  /** Its PID 1, as this machine counts. */
  readonly pid: number;
  /** Pulls the plug and waits until nothing of it runs. */
  end(): Promise<void>;
}

/** What boot-host.sh lays together: `image` stays as it is, all that the machine writes lands in `folder`. */
export interface Disk {
  readonly image: string;
  /** With the empty folders upper, work and root. */
  readonly folder: string;
}

const BOOT = join(import.meta.dirname, "boot-host.sh");

/** Runs a program with the machine's file system at FOLDER/root while its power is off. */
export function onDisk({ image, folder }: Disk, program: string, words: readonly string[]): void {
  const command = ["--mount", "sh", BOOT, image, folder, "none", program, ...words];
  const { status, stderr } = spawnSync("unshare", command, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ended with ${String(status)}: ${stderr}`);
}

/** @param name differs between all machines that run here @param words more for systemd-nspawn */
export async function boot(disk: Disk, name: string, words: readonly string[]): Promise<Machine> {
  const nspawn = [
    ...["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit"],
    ...["--resolv-conf=off", "--timezone=off", "--link-journal=no"],
    ...[`--directory=${join(disk.folder, "root")}`, `--machine=${name}`],
    ...words,
  ];
  const cgroup: Trace = { kind: "cgroup", name: `${name}-${String(process.pid)}` };
  note(cgroup);
  // Two things end it with us, however we end: the kernel's signal to unshare, and unshare's to the machine's namespace.
  const unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const child = spawn(
    "setpriv",
    ["--pdeathsig", "KILL", ...unshare, "sh", BOOT, disk.image, disk.folder, cgroup.name, ...nspawn],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise<void>((resolve) =>
    child.once("exit", () => {
      resolve();
    }),
  );
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const outer = child.pid ?? 0;
  const trace: Trace = { kind: "machine", pid: outer, start: startOf(outer) };
  note(trace);
  const end = async (): Promise<void> => {
    const first = firstProcess(outer);
    if (first === null) child.kill("SIGKILL");
    else killQuietly(first);
    await ended;
    await takeAway([cgroup, trace]);
  };
  try {
    const pid = await eventually(`${name} has a PID 1`, () => {
      if (child.exitCode !== null) throw new Error(`Cannot boot ${name}: ${said}`);
      return firstProcess(outer);
    });
    return { pid, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** PID 1 of the machine below unshare and systemd-nspawn, or null while there is none. */
function firstProcess(outer: number): number | null {
  for (const nspawn of childrenOf(outer))
    for (const child of childrenOf(nspawn))
      if (processNamespaceOf(child) !== processNamespaceOf(nspawn)) return child;
  return null;
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8");
    return text
      .split(" ")
      .filter((word) => word !== "")
      .map(Number);
  } catch {
    return [];
  }
}

/** "" when the process is gone. */
export function processNamespaceOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${String(pid)}/ns/pid`);
  } catch {
    return "";
  }
}
