import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import type { GpuHost } from "../support/gpu-host";
import { filesIn, insidePath, serverOf, vllmProcessesOf } from "../support/inside-host";
import { STAND_IN_EXECUTABLE, type SystemdHost } from "../support/systemd-host";

/** What a user has on a host, looked at from outside of it and past the product. */
export interface Site {
  /** Inputs of a small server there. */
  readonly inputs: Readonly<Record<string, unknown>> & { readonly host: Readonly<Record<string, unknown>> };
  /** The home folder as this machine sees it. */
  home(): string;
  /** Live processes of the user's servers. */
  processes(): readonly SiteProcess[];
  /** Body of an answer of a server, or null when there is none. */
  get(port: number, path: string): Promise<string | null>;
  /** Answer of /v1/completions. @param request default: one token of "tiny" */
  complete(port: number, request?: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** What the host tells of the last minutes, for whoever has to understand a failure. */
  journal(): string;
  /** All that servers of this user leave anywhere, and the memory in use on the GPUs of the host. */
  traces(): Traces;
}

export interface SiteProcess {
  /** As this machine counts. */
  readonly pid: number;
  /** As the host counts. */
  readonly pidInside: number;
  readonly command: string;
  /** Id of its server; null: not known, a supervisor. */
  readonly server: string | null;
}

export interface Traces {
  readonly processes: readonly number[];
  readonly units: readonly string[];
  /** Units that systemd knows, whatever they do. */
  readonly loaded: readonly string[];
  readonly sharedMemory: readonly string[];
  readonly temporary: readonly string[];
  readonly state: readonly string[];
  readonly gpuMemoryMib: readonly number[];
}

const REQUEST = { model: "tiny", prompt: "one", max_tokens: 1 };

export function siteOnMachine(host: SystemdHost, user: string): Site {
  const home = user === "root" ? "/root" : `/home/${user}`;
  const uid = Number(host.run(`id -u ${user}`));
  if (!existsSync(insidePath(host, "/srv/tiny")))
    writeCheckpoint(insidePath(host, "/srv/tiny"), { "config.json": TINY_LLAMA });
  const { address, privateKey, hostKeyLine } = host;
  const curl = (words: string): string => host.run(`curl --silent --fail --max-time 10 ${words}`);
  const processes = (): readonly SiteProcess[] =>
    vllmProcessesOf(host).filter((process) => process.uid === uid);
  const loaded = (scope: string, as?: string): readonly string[] => {
    const told = host.run(`systemctl ${scope} list-units --all --plain --no-legend 'pulumi-vllm-*'`, as);
    return told
      .split("\n")
      .map((line) => line.split(" ")[0] ?? "")
      .filter((name) => name !== "");
  };
  const hasUserManager = (): boolean =>
    existsSync(insidePath(host, `/run/user/${String(uid)}/systemd/private`));
  return {
    inputs: {
      host: { host: address, user, privateKey, hostKey: hostKeyLine },
      model: { path: "/srv/tiny" },
      vllm: { executable: STAND_IN_EXECUTABLE },
    },
    home: () => insidePath(host, home),
    processes,
    get: async (port, path) => {
      try {
        return curl(`http://127.0.0.1:${String(port)}${path}`);
      } catch {
        return null;
      }
    },
    complete: async (port, request = REQUEST) =>
      JSON.parse(
        curl(
          `-H 'content-type: application/json' -d '${JSON.stringify(request)}' http://127.0.0.1:${String(port)}/v1/completions`,
        ),
      ),
    journal: () => host.run("journalctl --no-pager --lines 60 --output short-precise _COMM=systemd"),
    traces: () => ({
      processes: processes().map(({ pid }) => pid),
      units: [...filesIn(host, "/etc/systemd/system"), ...filesIn(host, join(home, ".config/systemd"))],
      loaded: [...loaded(""), ...(hasUserManager() ? loaded("--user", user) : [])],
      sharedMemory: filesIn(host, "/dev/shm", uid),
      // systemd's own folders are root's.
      temporary: readdirSync(insidePath(host, "/tmp")).filter(
        (name) =>
          !name.startsWith("systemd-private-") && lstatSync(insidePath(host, join("/tmp", name))).uid === uid,
      ),
      state: serverFoldersIn(insidePath(host, home)),
      gpuMemoryMib: host
        .run("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits")
        .trim()
        .split("\n")
        .map(Number),
    }),
  };
}

export function siteOnLoopback(bed: GpuHost): Site {
  const processes = (): readonly SiteProcess[] =>
    bed.processes().map(({ pid, command }) => ({
      pid,
      pidInside: pid,
      command,
      server: serverOf(pid),
    }));
  return {
    inputs: {
      host: bed.host,
      model: { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) },
      vllm: { executable: bed.executable },
    },
    home: () => bed.home,
    processes,
    get: (port, path) =>
      fetch(`http://127.0.0.1:${String(port)}${path}`).then(
        async (response) => (response.ok ? response.text() : null),
        () => null,
      ),
    complete: async (port, request = REQUEST) => {
      const headers = { "content-type": "application/json" };
      const url = `http://127.0.0.1:${String(port)}/v1/completions`;
      const body = JSON.stringify(request);
      return JSON.parse(await (await fetch(url, { method: "POST", headers, body })).text());
    },
    journal: () => "",
    traces: () => ({
      processes: processes().map(({ pid }) => pid),
      units: [],
      loaded: [],
      sharedMemory: bed.sharedMemory(),
      temporary: [],
      state: serverFoldersIn(bed.home),
      gpuMemoryMib: bed.gpuMemoryMib(),
    }),
  };
}

function serverFoldersIn(home: string): readonly string[] {
  const folder = join(home, ".local/state/pulumi-vllm");
  return existsSync(folder) ? readdirSync(folder).filter((name) => /-[0-9a-f]{8}$/.test(name)) : [];
}
