import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { processNamespaceOf } from "./host-machine.ts";
import type { SystemdHost } from "./systemd-host.ts";

/** A process of a machine, seen from outside of it. */
export interface InsideProcess {
  /** As this machine counts. */
  readonly pid: number;
  /** As its own machine counts. */
  readonly pidInside: number;
  readonly parent: number;
  readonly uid: number;
  readonly command: string;
  /** Whose process of ours it is, as its environment says: a server's id. Supervisors carry none. */
  readonly server: string | null;
}

/** Live processes of the machine that vLLM, its children or a supervisor are, whoever's; [] while the power is off. */
export function vllmProcessesOf(host: SystemdHost): readonly InsideProcess[] {
  const first = host.pid();
  const namespace = first === null ? "" : processNamespaceOf(first);
  if (namespace === "") return [];
  const all = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && processNamespaceOf(Number(name)) === namespace,
  );
  return all.flatMap((name) => describe(Number(name)));
}

function describe(pid: number): readonly InsideProcess[] {
  const status = readQuietly(`/proc/${String(pid)}/status`);
  const field = (key: string): string => new RegExp(`^${key}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
  const server = serverOf(pid);
  const isOurs = server !== null || field("Name").startsWith("pvllm-");
  if (!isOurs || field("State").startsWith("Z") || status === "") return [];
  return [
    {
      pid,
      pidInside: Number(field("NSpid").split(/\s+/).at(-1)),
      parent: Number(field("PPid")),
      uid: Number(field("Uid").split(/\s+/)[0]),
      command: readQuietly(`/proc/${String(pid)}/cmdline`)
        .replaceAll("\0", " ")
        .trim(),
      server,
    },
  ];
}

/** The mark that every process of a server carries in its environment: the server's id. */
export function serverOf(pid: number): string | null {
  return /(?:^|\0)PULUMI_VLLM_SERVER=([^\0]*)/.exec(readQuietly(`/proc/${String(pid)}/environ`))?.[1] ?? null;
}

/** Path on this machine of a file of the host, whose power must be on. */
export function insidePath(host: SystemdHost, path: string): string {
  return join(`/proc/${String(host.pid())}/root`, path);
}

/** Every file and link below a folder of the host, by its path there; [] when there is no such folder. */
export function filesIn(host: SystemdHost, folder: string, uid?: number): readonly string[] {
  const outside = insidePath(host, folder);
  let names: readonly string[];
  try {
    names = readdirSync(outside);
  } catch {
    return [];
  }
  return names.toSorted().flatMap((name) => {
    const stat = lstatSync(join(outside, name), { throwIfNoEntry: false });
    if (stat === undefined) return [];
    if (stat.isDirectory()) return filesIn(host, join(folder, name), uid);
    return uid === undefined || stat.uid === uid ? [join(folder, name)] : [];
  });
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
