import { join } from "node:path";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { note, takeAway, type Trace } from "../support/host-ledger";
import { makeNetwork, type HostNetwork } from "../support/host-network";
import { sharedMemoryOf } from "../support/host-processes";
import type { PulumiResult } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";
import { makeSystemdHost, type HostPlan, type SystemdHost } from "../support/systemd-host";
import { PLACES, USERS, type Place } from "./places";
import { siteOnLoopback, siteOnMachine, type Site, type SiteProcess } from "./site";

export type Inputs = Readonly<Record<string, unknown>>;
export type Outputs = Readonly<Record<string, unknown>>;

/** How one run of the CLI ended for each server. */
export interface Run extends PulumiResult {
  /** What it said on the line of that resource. */
  said(name: string): string;
}

/** Two machines and the loopback host, a server in each place and beside it a neighbour of the same user; one project declares them all. */
export class Fleet {
  readonly machines: Readonly<Record<"gpu1" | "gpu2", SystemdHost>>;
  readonly #network: HostNetwork;
  readonly #bed: GpuHost;
  readonly #sites = new Map<string, Site>();
  readonly #ports = new Map<string, number>();
  readonly #ids = new Map<string, string>();
  /** Of the loopback host; newest last, as they are taken away from the end. */
  readonly #traces: readonly Trace[];
  #outputs = new Map<string, Outputs>();

  private constructor(network: HostNetwork, bed: GpuHost, gpu1: SystemdHost, gpu2: SystemdHost) {
    this.#network = network;
    this.#bed = bed;
    this.#traces = [
      { kind: "project", path: bed.project.folder },
      ...[bed.folder, join(bed.executable, "../..")].map((path): Trace => ({
        kind: "folder",
        path,
      })),
      { kind: "home", path: bed.home },
    ];
    this.machines = { gpu1, gpu2 };
    for (const { name, machine } of PLACES) {
      this.#sites.set(
        name,
        machine === null ? siteOnLoopback(bed) : siteOnMachine(this.machines[machine], name),
      );
    }
  }

  static async make(): Promise<Fleet> {
    const network = await makeNetwork();
    const plan = (name: keyof typeof USERS): HostPlan => ({ name, users: USERS[name] });
    const made = await Promise.allSettled([
      gpuHost(),
      makeSystemdHost(plan("gpu1"), network),
      makeSystemdHost(plan("gpu2"), network),
    ]);
    const [bed, gpu1, gpu2] = made;
    if (bed.status === "fulfilled" && gpu1.status === "fulfilled" && gpu2.status === "fulfilled") {
      const fleet = new Fleet(network, bed.value, gpu1.value, gpu2.value);
      for (const trace of fleet.#traces) note(trace);
      for (const { name } of PLACES)
        for (const one of [name, neighbourOf(name)]) fleet.#ports.set(one, await freePort("127.0.0.1"));
      return fleet;
    }
    for (const one of made) if (one.status === "fulfilled") await one.value.close();
    await network.close();
    throw new Error(
      made.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : [])).join("\n"),
    );
  }

  site(name: string): Site {
    const site = this.#sites.get(name);
    if (site === undefined) throw new Error(`there is no ${name}`);
    return site;
  }

  port(name: string): number {
    return this.#ports.get(name) ?? 0;
  }

  /** Outputs of a server as the last run left them in state; {} when it has none. */
  outputs(name: string): Outputs {
    return this.#outputs.get(name) ?? {};
  }

  /** Declares the neighbours and, with these inputs over the common ones, the servers. Only null takes a server away. */
  async declare(over: (place: Place) => Inputs | null): Promise<void> {
    const servers = PLACES.flatMap((place) => {
      const inputs = over(place);
      const neighbour = [
        neighbourOf(place.name),
        this.#inputs(place.name, neighbourOf(place.name), {}),
      ] as const;
      return inputs === null
        ? [neighbour]
        : [neighbour, [place.name, this.#inputs(place.name, place.name, inputs)] as const];
    });
    await this.#bed.project.setProgram(this.#bed.programOf(Object.fromEntries(servers)));
  }

  /** A run of the CLI on all of them; one that fails does not keep the others from being worked on. */
  async run(verb: "up" | "refresh" | "destroy", args: readonly string[] = []): Promise<Run> {
    return this.finish(await this.start(verb, args));
  }

  start(verb: "up" | "refresh" | "destroy", args: readonly string[] = []): Promise<PulumiResult> {
    const more = verb === "refresh" ? [] : ["--continue-on-error"];
    return this.#bed.project.start(verb, [...more, ...args]).result;
  }

  async finish(result: PulumiResult): Promise<Run> {
    const servers = await this.#bed.project.servers();
    this.#outputs = new Map(servers.map(({ urn, outputs = {} }) => [nameIn(urn), outputs]));
    for (const { urn, id } of servers) this.#ids.set(nameIn(urn), id ?? "");
    const said = (name: string): string =>
      result.events
        .flatMap(({ diagnosticEvent: event }) =>
          event?.urn?.endsWith(`::${name}`) === true ? [`${event.severity}: ${event.message.trim()}`] : [],
        )
        .join("\n");
    return { ...result, said };
  }

  /** Id of a server as its files and processes carry it. */
  serverId(name: string): string {
    return this.#ids.get(name) ?? "";
  }

  /** vLLM's processes of a server, API server first. */
  processes(name: string): readonly SiteProcess[] {
    const id = this.serverId(name);
    const all = this.site(name.replace(/-neighbour$/, ""))
      .processes()
      .filter(({ server }) => server === id);
    return all.toSorted((one, other) => Number(isApiServer(other)) - Number(isApiServer(one)));
  }

  /** Files of the user who runs a server that neither it nor its neighbour has mapped. */
  sharedMemoryOfNobody(name: string): readonly string[] {
    const mapped = new Set(
      [name, neighbourOf(name)]
        .flatMap((one) => this.processes(one))
        .flatMap((process) => sharedMemoryOf(process.pid)),
    );
    return this.site(name)
      .traces()
      .sharedMemory.filter((path) => !mapped.has(path));
  }

  /** Destroys what is left, takes the machines away. Fails when the destroy does. */
  async close(): Promise<void> {
    const destroyed = await this.start("destroy");
    try {
      await this.#bed.close();
    } finally {
      for (const machine of Object.values(this.machines)) await machine.close();
      await this.#network.close();
      await takeAway(this.#traces);
    }
    if (destroyed.code !== 0) throw new Error(`destroy failed:\n${destroyed.stdout}\n${destroyed.stderr}`);
  }

  #inputs(site: string, name: string, over: Inputs): Inputs {
    return {
      ...this.site(site).inputs,
      listen: { port: this.port(name) },
      environment: { STAND_IN_START_SECONDS: "0.5" },
      engine: { servedModelName: ["tiny"] },
      service: { restart: { max: 3, delaySeconds: 0.5 } },
      ...over,
    };
  }
}

function nameIn(urn: string): string {
  return urn.split("::").at(-1) ?? "";
}

export function neighbourOf(name: string): string {
  return `${name}-neighbour`;
}

export function isApiServer({ command }: SiteProcess): boolean {
  return / serve /.test(command);
}
