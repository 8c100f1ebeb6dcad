import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** What /proc shows of one process of a server. */
export interface ProcessSeen {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** "api server", "resource tracker", "spawning", or the title it gave itself. */
  readonly role: string;
  /** comm, 15 characters at most. */
  readonly comm: string;
}

/** Every live process of a session, oldest first; zombies are no processes any more. */
export function sessionOf(session: number): readonly ProcessSeen[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((seen): seen is ProcessSeen => seen?.session === session)
    .sort((a, b) => a.pid - b.pid);
}

function readProcess(pid: number): ProcessSeen | null {
  const stat = readQuietly(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  if (state === undefined || parent === undefined || state === "Z" || state === "X") return null;
  const words = readQuietly(`/proc/${pid}/cmdline`).split("\0");
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    role: roleOf(words),
    comm: stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
  };
}

function roleOf(words: readonly string[]): string {
  if (words.includes("serve")) return "api server";
  const line = words.join(" ");
  if (line.includes("resource_tracker import main")) return "resource tracker";
  if (line.includes("spawn_main")) return "spawning";
  return words[0] ?? "";
}

/** Whether the variable can be read from outside; titled processes overwrite their environment. */
export function hasVariable(pid: number, variable: string): boolean {
  return readQuietly(`/proc/${pid}/environ`).split("\0").includes(variable);
}

/** Names under /dev/shm that a process has mapped and that still have a name there. */
export function mappedShm(pid: number): readonly string[] {
  const names = readQuietly(`/proc/${pid}/maps`)
    .split("\n")
    .map((line) => /\/dev\/shm\/(\S+)$/.exec(line)?.[1])
    .filter((name): name is string => name !== undefined);
  return [...new Set(names)].sort();
}

export function shmMode(name: string): string {
  return (statSync(`/dev/shm/${name}`).mode & 0o777).toString(8).padStart(4, "0");
}

/** Whether `pid` itself holds a socket that listens on this IPv4 port. */
export function listens(pid: number, port: number): boolean {
  const inodes = new Set(listeningInodes(port));
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readLinkQuietly(`/proc/${pid}/fd/${descriptor}`))?.[1];
      return inode !== undefined && inodes.has(inode);
    });
  } catch {
    return false;
  }
}

/** Inodes of sockets in state LISTEN (0A) on the port. */
export function listeningInodes(port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readQuietly("/proc/net/tcp")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) === true && fields[3] === "0A")
    .map((fields) => fields[9] ?? "");
}

/** Seconds since the epoch at which a process started, as the kernel counts them (whole clock ticks after boot). */
export function startSeconds(pid: number): number {
  const boot = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]);
  const stat = readQuietly(`/proc/${pid}/stat`);
  const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  return boot + ticks / 100;
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function readLinkQuietly(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
