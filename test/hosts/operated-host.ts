import { expect } from "vitest";
import type { Inputs, Outputs } from "./fleet";
import { declare, makeOneMachine, outputsOf, type OneMachine } from "./one-machine";
import { PageReader } from "./page-reader";
import type { SiteProcess, Traces } from "./site";

/** Long enough that its sockets need a folder of their own. */
export const JUDGE = "judge-with-a-name-as-long-as-can-be";
/** Servers of ann, one with each manager. */
export const OF_ANN = { chat: "systemd", embed: "systemd-user", [JUDGE]: "process" } as const;
export const NAMES = Object.keys(OF_ANN);
export const NEIGHBOUR = "neighbour";

/** A machine with ann's servers and one of cid, the neighbour, and ann at its keyboard with the page. */
export class OperatedHost {
  readonly place: OneMachine;
  readonly page: PageReader;
  /** What of ann was there before the first `up`. */
  readonly empty: Traces;
  #outputs: Readonly<Record<string, Outputs>> = {};
  readonly #ids = new Map<string, string>();

  private constructor(place: OneMachine) {
    this.place = place;
    this.page = new PageReader(place.machine, "ann");
    this.empty = place.site("ann").traces();
  }

  static async make(): Promise<OperatedHost> {
    const users = [{ name: "ann", sudo: true, linger: true }, { name: "cid" }];
    const host = new OperatedHost(await makeOneMachine({ name: "gpu9", users }));
    const servers: Record<string, Inputs> = { [NEIGHBOUR]: await host.place.server("cid") };
    for (const [name, manager] of Object.entries(OF_ANN))
      servers[name] = await host.place.server("ann", { service: { manager } });
    await declare(host.place.project, servers);
    await host.run("up");
    return host;
  }

  /** A run that has to end well; returns what it printed. */
  async run(verb: "up" | "refresh"): Promise<string> {
    const { project } = this.place;
    const { code, stdout } = await project[verb]();
    expect(code, stdout).toBe(0);
    this.#outputs = await outputsOf(project);
    for (const { urn, id } of await project.servers()) this.#ids.set(urn.split("::").at(-1) ?? "", id ?? "");
    return stdout;
  }

  /** As the last run left them in state; {} when it is not there. */
  outputs(name: string): Outputs {
    return this.#outputs[name] ?? {};
  }

  id(name: string): string {
    return this.#ids.get(name) ?? "";
  }

  port(name: string): number {
    return Number(/:(\d+)$/.exec(String(this.outputs(name)["url"]))?.[1]);
  }

  processes(name: string): readonly SiteProcess[] {
    const site = this.place.site(name === NEIGHBOUR ? "cid" : "ann");
    return site.processes().filter(({ server }) => server === this.id(name));
  }

  /** As the machine counts. */
  pids(name: string): readonly number[] {
    return this.processes(name).map(({ pidInside }) => pidInside);
  }

  /** An output of each of ann's servers. */
  each(output: string): readonly unknown[] {
    return NAMES.map((name) => this.outputs(name)[output]);
  }
}
