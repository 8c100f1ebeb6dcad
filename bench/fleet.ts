import { PulumiProject } from "../test/support/pulumi-cli.ts";
import { makeFleet, type Fleet } from "./fleet-hosts.ts";
import { floorProgram } from "./floor.ts";
import { availableGib, load, watchMemory } from "./machine.ts";
import { pair, type Verb } from "./peers.ts";
import { table, times } from "./table.ts";

export interface FleetSize {
  readonly servers: number;
  readonly hosts: number;
}

/**
 * Many servers on many hosts against as many trivial dynamic resources, each verb of both in turn.
 * @returns Markdown
 */
export async function measureFleet({ servers, hosts }: FleetSize): Promise<string> {
  const fleet = await makeFleet(hosts);
  const floor = await PulumiProject.create({ program: floorProgram(servers) });
  const project = await PulumiProject.create({ program: await fleet.program(servers) });
  const before = availableGib();
  const memory = watchMemory();
  const loadBefore = load();
  const rows: string[][] = [];
  const measure = async (what: string, verb: Verb): Promise<void> => {
    const [connections, commands] = [fleet.connectionCount(), fleet.execCount()];
    const { own, floor: peer } = await pair(what, verb, project, floor);
    rows.push([
      what,
      own.wall.toFixed(1),
      peer.wall.toFixed(1),
      times(own.wall / peer.wall),
      own.processor.toFixed(1),
      peer.processor.toFixed(1),
      times(own.processor / peer.processor),
      String(fleet.connectionCount() - connections),
      String(fleet.execCount() - commands),
    ]);
  };
  try {
    await measure("up, create", (one) => one.up());
    const running = fleet.processCount();
    const took = before - availableGib();
    for (let turn = 1; turn <= 3; turn += 1) {
      await measure(`preview, nothing to do (${String(turn)})`, (one) =>
        one.preview(["--expect-no-changes"]),
      );
    }
    await measure("up, nothing to do", (one) => one.up());
    await measure("refresh", (one) => one.refresh());
    await measure("destroy", (one) => one.destroy());
    const head = [
      "verb",
      "seconds",
      "floor",
      "ratio",
      "processor seconds",
      "floor",
      "ratio",
      "connections",
      "commands",
    ];
    return [
      `### ${String(servers)} servers on ${String(hosts)} hosts (load ${loadBefore} before)`,
      table(head, rows),
      `Running, they were ${String(running)} processes and took ${took.toFixed(1)} GiB; the least memory left was ${memory.stop().toFixed(1)} GiB.`,
    ].join("\n\n");
  } finally {
    memory.stop();
    await endAll(project, floor, fleet);
  }
}

/** Everything that was started ends, also after a failure half way. */
async function endAll(project: PulumiProject, floor: PulumiProject, fleet: Fleet): Promise<void> {
  await project.destroy();
  await project.remove();
  await floor.remove();
  const left = await fleet.close();
  if (left > 0) throw new Error(`${String(left)} processes were left on the hosts; they are ended now`);
}
