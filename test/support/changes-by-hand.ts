import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually } from "./eventually.ts";
import type { GpuHost } from "./gpu-host.ts";

/** One server as its state knows it. */
export interface Running {
  readonly id: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** Servers of the bed's stack by name. */
export async function runningServers(bed: GpuHost): Promise<ReadonlyMap<string, Running>> {
  const servers = await bed.project.servers();
  return new Map(
    servers.map(({ urn, id = "", inputs = {}, outputs = {} }) => [
      urn.slice(urn.lastIndexOf(":") + 1),
      { id, inputs, outputs },
    ]),
  );
}

/** What somebody does on the host, past the tool. */
export class Hand {
  readonly #bed: GpuHost;

  constructor(bed: GpuHost) {
    this.#bed = bed;
  }

  /** Folder of a server's files. */
  folder({ id }: Running): string {
    return join(this.#bed.home, ".local/state/pulumi-vllm", id);
  }

  /** Another value of a flag in serve.yaml; returns what undoes it. */
  edit(server: Running, flag: string, value: string | number): () => void {
    const path = join(this.folder(server), "serve.yaml");
    const text = readFileSync(path, "utf8");
    const edited = text.replace(new RegExp(`^${flag}: .*$`, "m"), `${flag}: ${String(value)}`);
    if (edited === text) throw new Error(`no other ${flag} can be written into:\n${text}`);
    writeFileSync(path, edited);
    return () => {
      writeFileSync(path, text);
    };
  }

  /** Kills the API server and waits for what its supervisor starts. */
  async restart({ outputs }: Running, port = Number(urlOf(outputs).port)): Promise<void> {
    const before = new Set(this.#bed.processes().map(({ pid }) => pid));
    process.kill(Number(outputs["pid"]), "SIGKILL");
    await eventually(`another process answers on port ${String(port)}`, async () => {
      const isNew = this.#bed
        .processes()
        .some(({ pid, command }) => / serve /.test(command) && !before.has(pid));
      return isNew ? isHealthy(port) : null;
    });
  }

  /** The next start of this executable, and no later one, gets the variable. */
  slipIn(executable: string, name: string, value: string): void {
    const aside = join(dirname(executable), "vllm.aside");
    renameSync(executable, aside);
    const lines = [
      "#!/bin/sh",
      `mv '${aside}' '${executable}'`,
      `exec env ${name}='${value}' '${executable}' "$@"`,
    ];
    writeFileSync(executable, `${lines.join("\n")}\n`, { mode: 0o755 });
  }

  /** Lets a server hold memory of one more GPU. */
  compute({ outputs }: Running, uuid: string): void {
    const pid = Number(outputs["pid"]);
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    const startTicks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    const path = join(dirname(this.#bed.nvidiaSmi), "state", `${String(pid)}-${uuid}.json`);
    writeFileSync(path, JSON.stringify({ pid, startTicks, uuid, mib: 512 }));
  }

  /** Ends a server and whoever would start it again. */
  async stop(server: Running): Promise<void> {
    const leader = Number(server.outputs["pid"]);
    const run: { supervisor: { pid: number } } = JSON.parse(
      readFileSync(join(this.folder(server), "run.json"), "utf8"),
    );
    process.kill(run.supervisor.pid, "SIGKILL");
    process.kill(leader, "SIGTERM");
    await eventually("nothing of it is left", () =>
      this.#bed.processes().some(({ pid, parent }) => pid === leader || parent === leader) ? null : true,
    );
  }
}

export function urlOf(outputs: Readonly<Record<string, unknown>>): URL {
  return new URL(String(outputs["url"]));
}

function isHealthy(port: number): Promise<true | null> {
  return fetch(`http://127.0.0.1:${String(port)}/health`).then(
    ({ status }) => (status === 200 ? true : null),
    () => null,
  );
}
