import { PulumiProject } from "../test/support/pulumi-cli.ts";
import { makeFleet, type Fleet } from "./fleet-hosts.ts";
import { demandOk, floorProject, type Properties } from "./floor.ts";
import { availableGib, load, watchMemory } from "./machine.ts";
import { inTurn, type Run, type Verb } from "./peers.ts";
import { table, times } from "./table.ts";

export interface FleetSize {
  readonly servers: number;
  readonly hosts: number;
}

const HEAD = [
  "verb",
  "seconds",
  "trivial",
  "ratio",
  "same size",
  "ratio",
  "processor seconds",
  "trivial",
  "same size",
  "connections",
  "commands",
];

/**
 * Many servers on many hosts against as many dynamic resources whose provider does nothing, each verb of all in turn: trivial
 * ones of one property, and ones that hold as much as a server does.
 * @returns Markdown
 */
export async function measureFleet(size: FleetSize): Promise<string> {
  const fleet = await makeFleet(size.hosts);
  try {
    return await measured(size, fleet);
  } finally {
    const left = await fleet.close();
    if (left > 0) console.error(`${String(left)} processes were left on the hosts; they are ended now`);
  }
}

async function measured({ servers, hosts }: FleetSize, fleet: Fleet): Promise<string> {
  const own = await PulumiProject.create({ program: await fleet.program(servers) });
  const trivial = await floorProject(servers);
  const sameSize = await floorProject(servers, await propertiesOfOne(fleet));
  const before = availableGib();
  const memory = watchMemory();
  const loadBefore = load();
  const rows: string[][] = [];
  const measure = async (what: string, verb: Verb): Promise<void> => {
    const [connections, commands] = [fleet.connectionCount(), fleet.execCount()];
    const runs = await inTurn(what, verb, { trivial, sameSize, own });
    const counts = [fleet.connectionCount() - connections, fleet.execCount() - commands];
    rows.push([what, ...columns(runs), ...counts.map(String)]);
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
    return [
      `### ${String(servers)} servers on ${String(hosts)} hosts (load ${loadBefore} before)`,
      table(HEAD, rows),
      `Running, they were ${String(running)} processes and took ${took.toFixed(1)} GiB; the least memory left was ${memory.stop().toFixed(1)} GiB.`,
    ].join("\n\n");
  } finally {
    memory.stop();
    await own.destroy();
    for (const project of [own, trivial, sameSize]) await project.remove();
  }
}

function columns({
  own,
  trivial,
  sameSize,
}: Readonly<Record<"own" | "trivial" | "sameSize", Run>>): string[] {
  return [
    own.wall.toFixed(1),
    trivial.wall.toFixed(1),
    times(own.wall / trivial.wall),
    sameSize.wall.toFixed(1),
    times(own.wall / sameSize.wall),
    own.processor.toFixed(1),
    trivial.processor.toFixed(1),
    sameSize.processor.toFixed(1),
  ];
}

/** Of a server of the fleet that has been started once. */
async function propertiesOfOne(fleet: Fleet): Promise<Properties> {
  const project = await PulumiProject.create({ program: await fleet.program(1) });
  try {
    demandOk(await project.up(), "up of one server");
    const [server] = await project.servers();
    const { __provider: text, ...inputs } = withoutSecrets(server?.inputs ?? {});
    const outputs = Object.entries(withoutSecrets(server?.outputs ?? {})).filter(
      ([name, value]) => !(name in inputs) && value !== text,
    );
    return { inputs, outputs: Object.fromEntries(outputs) };
  } finally {
    await project.destroy();
    await project.remove();
  }
}

/** The ciphertext in place of each secret: a plain text that is as long. */
function withoutSecrets(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const plain: Readonly<Record<string, unknown>> = JSON.parse(
    JSON.stringify(properties),
    (_name, value: unknown) =>
      typeof value === "object" && value !== null && "ciphertext" in value ? value.ciphertext : value,
  );
  return plain;
}
