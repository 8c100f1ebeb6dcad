import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endByForce, processesOfHosts, sharedMemoryOf, type HostProcess } from "./host-processes.ts";
import { PulumiProject } from "./pulumi-cli.ts";
import { startSshd, type Sshd } from "./sshd.ts";

/** A host of one's own on loopback, with the real sshd, and a Pulumi project that declares servers on it. */
export interface Bed {
  readonly folder: string;
  /** HOME on the host. */
  readonly home: string;
  readonly sshd: Sshd;
  readonly project: PulumiProject;
  /** Inputs of `host`: this host by address, key and pinned host key. */
  readonly host: Readonly<Record<string, unknown>>;
  /** Writes the program: one VllmServer per entry, on this bed's host unless `host` is given. */
  declare(servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Promise<void>;
  /** The text that declare() writes, for another project on the same host. */
  programOf(servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string;
  /** Live processes of the host: vLLM, its children, supervisors; nothing of the test itself. */
  processes(): readonly HostProcess[];
  /** Shared-memory files that exist and that a process of the host maps or was seen to map by an earlier call. */
  sharedMemory(): readonly string[];
  /** Destroys what is declared, stops sshd, removes all files. Fails when something of the host is left. */
  close(): Promise<void>;
}

export async function makeBed(
  options: { readonly path?: string; readonly env?: Record<string, string> } = {},
): Promise<Bed> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bed-")));
  const home = join(folder, "home");
  mkdirSync(home);
  const sshd = await startSshd({ home, ...(options.path === undefined ? {} : { path: options.path }) });
  const mapped = new Set<string>();
  const project = await PulumiProject.create({ program: "", env: options.env ?? {} });
  const host = {
    host: sshd.address,
    port: sshd.port,
    user: sshd.user,
    privateKey: sshd.privateKey,
    hostKey: sshd.hostKeyLine,
  };
  const processes = (): readonly HostProcess[] => processesOfHosts([home]);
  const sharedMemory = (): readonly string[] => {
    for (const { pid } of processes()) for (const path of sharedMemoryOf(pid)) mapped.add(path);
    return [...mapped].filter((path) => existsSync(path));
  };
  return {
    folder,
    home,
    sshd,
    project,
    host,
    declare: (servers) => project.setProgram(programOf(servers, host)),
    programOf: (servers) => programOf(servers, host),
    processes,
    sharedMemory,
    close: async () => {
      const destroyed = await project.destroy();
      const left = processes();
      endByForce(left);
      await sshd.stop();
      await project.remove();
      rmSync(folder, { recursive: true, force: true });
      if (destroyed.code !== 0) throw new Error(`destroy failed:\n${destroyed.stdout}\n${destroyed.stderr}`);
      if (left.length > 0) throw new Error(`left on the host: ${JSON.stringify(left)}`);
    },
  };
}

/** Text of a program that declares these servers, on this host unless `host` is given with a server. */
export function programOf(
  servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  host?: unknown,
): string {
  const declarations = Object.entries(servers).map(([name, inputs]) => {
    const args = JSON.stringify({ host, ...inputs }, null, 2);
    return `new VllmServer(${JSON.stringify(name)}, ${args});`;
  });
  return ['import { VllmServer } from "pulumi-vllm";', ...declarations, ""].join("\n");
}
