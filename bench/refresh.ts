import { PulumiProject } from "../test/support/pulumi-cli.ts";
import { makeFleet, type Fleet } from "./fleet-hosts.ts";
import { demandOk, floorProject } from "./floor.ts";
import { load } from "./machine.ts";
import { plainSsh } from "./plain-ssh.ts";
import { median, spread } from "./statistics.ts";
import { table } from "./table.ts";

export interface RefreshSize {
  readonly servers: number;
  readonly hosts: number;
  /** In each direction: a round trip takes twice as long. */
  readonly delayMilliseconds: number;
  readonly repetitions: number;
}

/**
 * `pulumi refresh` of servers that all answer, over a line with a delay, in turn with
 * - the same of dynamic resources whose provider does nothing: what the CLI takes by itself;
 * - OpenSSH, one `ssh host true` a server, eight at a time. It looks at nothing, so it is the least that looking at one server
 *   after the other can cost; with a connection each, and with one connection a host.
 * Resources of other providers are no peer: `@pulumi/command`, for one, does not connect in a refresh.
 * @returns Markdown
 */
export async function measureRefresh(size: RefreshSize): Promise<string> {
  const fleet = await makeFleet(size.hosts, size.delayMilliseconds);
  try {
    return await measured(size, fleet);
  } finally {
    const left = await fleet.close();
    if (left > 0) console.error(`${String(left)} processes were left on the hosts; they are ended now`);
  }
}

interface Row {
  readonly seconds: number[];
  /** Of the last run. */
  counts: readonly [number, number];
}

async function measured(size: RefreshSize, fleet: Fleet): Promise<string> {
  const own = await PulumiProject.create({ program: await fleet.program(size.servers) });
  const trivial = await floorProject(size.servers);
  const [alone, shared] = [plainSsh(fleet.doors, false), plainSsh(fleet.doors, true)];
  const refresh = async (project: PulumiProject): Promise<number> =>
    demandOk(await project.refresh(), "refresh").seconds;
  const ways = {
    "`pulumi refresh`": () => refresh(own),
    "… of trivial resources (the CLI's floor)": () => refresh(trivial),
    "`ssh host true` a server": () => alone.run(size.servers),
    "`ssh host true` a server, one connection a host": () => shared.run(size.servers),
  };
  const rows = new Map<string, Row>();
  const loadBefore = load();
  try {
    for (const project of [own, trivial]) demandOk(await project.up(), "up");
    for (let turn = 1; turn <= size.repetitions; turn += 1) {
      for (const [what, way] of Object.entries(ways)) {
        const row = rows.get(what) ?? { seconds: [], counts: [0, 0] };
        const before = [fleet.connectionCount(), fleet.execCount()] as const;
        row.seconds.push(await way());
        row.counts = [fleet.connectionCount() - before[0], fleet.execCount() - before[1]];
        rows.set(what, row);
        console.error(`${what} (${String(turn)}): ${String(row.seconds.at(-1)?.toFixed(2))} s`);
      }
    }
    return text(size, rows, loadBefore);
  } finally {
    await own.destroy();
    for (const project of [own, trivial]) await project.remove();
    for (const one of [alone, shared]) one.remove();
  }
}

function text(size: RefreshSize, rows: ReadonlyMap<string, Row>, loadBefore: string): string {
  const { servers, hosts, delayMilliseconds, repetitions } = size;
  const seconds = [...rows.values()].map((row) => median(row.seconds));
  const lines = [...rows].map(([what, row]) => [what, spread(row.seconds), ...row.counts.map(String)]);
  const own = (seconds[0] ?? NaN) - (seconds[1] ?? NaN);
  return [
    `### Refresh: ${String(servers)} servers on ${String(hosts)} hosts, ${String(delayMilliseconds)} ms in each direction, ${String(repetitions)} of each in turn (load ${loadBefore} before, ${load()} after)`,
    table(["what", "seconds: median (least-most)", "connections", "commands"], lines),
    `Over the CLI's floor the refresh takes ${own.toFixed(2)} s.`,
  ].join("\n\n");
}
