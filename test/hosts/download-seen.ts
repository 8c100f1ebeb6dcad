import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { processNamespaceOf } from "../support/host-machine";
import type { ModelHub } from "../support/model-hub";
import { commandOf } from "../support/process-tree";
import type { SystemdHost } from "../support/systemd-host";
import type { BigCheckpoint } from "./big-checkpoint";

/** A download of root's on a machine, seen from outside, past the product: on its disk, among its processes, by the hub. */
export class DownloadSeen {
  readonly #machine: SystemdHost;
  readonly #hub: ModelHub;
  readonly #wanted: BigCheckpoint;

  constructor(machine: SystemdHost, hub: ModelHub, wanted: BigCheckpoint) {
    this.#machine = machine;
    this.#hub = hub;
    this.#wanted = wanted;
  }

  /** Bytes that the hub has sent. */
  async sent(): Promise<number> {
    return (await this.#hub.state()).bytes;
  }

  /** How often the hub was asked for the content of each file. */
  async gets(): Promise<ReadonlyMap<string, number>> {
    const { files } = await this.#hub.state();
    const asked = Object.entries(files[this.#wanted.repository] ?? {});
    return new Map(asked.map(([name, { gets }]) => [name, gets]));
  }

  /** Files of the revision that are there, and their sizes. */
  files(): ReadonlyMap<string, number> {
    const snapshot = join(this.#repository(), "snapshots", this.#wanted.revision);
    return new Map(
      namesIn(snapshot).map((name) => {
        return [name, statSync(join(snapshot, name)).size];
      }),
    );
  }

  /** Names in the folder of the blobs, those of parts too. */
  blobs(): readonly string[] {
    return namesIn(join(this.#repository(), "blobs"));
  }

  /** Parts of files that a client began. */
  parts(): readonly string[] {
    return this.blobs().filter((name) => name.endsWith(".incomplete"));
  }

  /** What the clients of the running or last job have printed. */
  clientsSaid(): string {
    const jobs = this.#jobs();
    return namesIn(jobs)
      .map((job) => readFileSync(join(jobs, job, "log"), "utf8"))
      .join("");
  }

  /** Jobs that the host keeps. */
  jobs(): readonly string[] {
    return namesIn(this.#jobs());
  }

  /** Live clients on the machine, as this machine counts; [] while its power is off. */
  clients(): readonly { readonly pid: number; readonly streams: number }[] {
    const first = this.#machine.pid();
    const namespace = first === null ? "" : processNamespaceOf(first);
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map(Number).flatMap((pid) => {
      if (namespace === "" || processNamespaceOf(pid) !== namespace) return [];
      const streams = /\bhf download .*--max-workers (\d+)/.exec(commandOf(pid))?.[1];
      return streams === undefined ? [] : [{ pid, streams: Number(streams) }];
    });
  }

  #repository(): string {
    const name = `models--${this.#wanted.repository.replace("/", "--")}`;
    return join(this.#machine.written, "root/.cache/huggingface/hub", name);
  }

  #jobs(): string {
    return join(this.#machine.written, "root/.local/state/pulumi-vllm/jobs");
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
