import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { gpuHost, type GpuHost } from "../support/gpu-host";
import { PulumiProject } from "../support/pulumi-cli";

/** Four servers on one host: each has GPUs of its own, starts have turns, stops have none. */

let bed: GpuHost;
let other: PulumiProject;

beforeAll(async () => {
  bed = await gpuHost();
  other = await PulumiProject.create({ program: "", name: "other" });
});

afterAll(async () => {
  await other.destroy();
  await other.remove();
  await bed.close();
});

type Inputs = Readonly<Record<string, unknown>>;

const twoGpus = async (): Promise<Inputs> => ({
  ...(await bed.tinyServer(1)),
  engine: { tensorParallelSize: 2 },
});
const outputsOf = async (project: PulumiProject): Promise<readonly Inputs[]> =>
  (await project.servers()).map(({ outputs }) => outputs ?? {});
const apiServers = (): number => bed.processes().filter(({ command }) => / serve /.test(command)).length;

/** Every one ready, listening where it was told to, and no GPU given twice. */
async function demandFour(servers: readonly Inputs[], declared: readonly Inputs[]): Promise<void> {
  expect(servers.map((server) => server["status"])).toEqual(Array(4).fill("ready"));
  const gpus = servers.flatMap((server) => gpusOf(server));
  expect([gpus.length, new Set(gpus).size]).toEqual([8, 8]);
  const ports = (some: readonly Inputs[]): readonly unknown[] =>
    some.map((one) => portOf(one["listen"])).sort();
  expect(ports(servers)).toEqual(ports(declared));
  for (const port of ports(declared)) {
    const { status } = await fetch(`http://127.0.0.1:${String(port)}/health`);
    expect(status).toBe(200);
  }
  expect(apiServers()).toBe(4);
  expect(bed.gpuMemoryMib().every((mib) => mib > bed.idleMib)).toBe(true);
}

function gpusOf(server: Inputs): readonly unknown[] {
  const uuids = server["gpuUuids"];
  return Array.isArray(uuids) ? uuids : [];
}

function portOf(listen: unknown): unknown {
  return typeof listen === "object" && listen !== null && "port" in listen ? listen.port : null;
}

describe("four servers on one host", () => {
  it("by one up: all ready, eight GPUs, none twice", async () => {
    const declared = { a: await twoGpus(), b: await twoGpus(), c: await twoGpus(), d: await twoGpus() };
    await bed.declare(declared);
    expect((await bed.project.up()).code).toBe(0);
    await demandFour(await outputsOf(bed.project), Object.values(declared));
    expect((await bed.project.destroy()).code).toBe(0);
    expect([bed.processes(), bed.serverFolders(), bed.sharedMemory()]).toEqual([[], [], []]);
    expect(bed.gpuMemoryMib()).toEqual(Array(8).fill(bed.idleMib));
  });

  it("by two ups of two projects at once: all ready, eight GPUs, none twice", async () => {
    const mine = { a: await twoGpus(), b: await twoGpus() };
    const theirs = { c: await twoGpus(), d: await twoGpus() };
    await bed.declare(mine);
    await other.setProgram(bed.programOf(theirs));
    const done = await Promise.all([bed.project.up(), other.up()]);
    expect(done.map(({ code }) => code)).toEqual([0, 0]);
    const servers = [...(await outputsOf(bed.project)), ...(await outputsOf(other))];
    await demandFour(servers, [...Object.values(mine), ...Object.values(theirs)]);
    expect((await bed.project.destroy()).code).toBe(0);
    // What the other project has is not touched by that.
    expect((await outputsOf(other)).map((server) => server["status"])).toEqual(["ready", "ready"]);
    expect(apiServers()).toBe(2);
    expect((await other.destroy()).code).toBe(0);
    expect(bed.processes()).toEqual([]);
  });
});

describe("a stop", () => {
  it("goes on while another server of the host starts", async () => {
    await other.setProgram(bed.programOf({ old: await twoGpus() }));
    expect((await other.up()).code).toBe(0);
    await bed.declare({ slow: await bed.tinyServer(20) });
    const up = bed.project.start("up");
    await eventually("the slow one has begun", () => (apiServers() === 2 ? true : null));
    expect((await other.destroy()).code).toBe(0);
    // The slow one has the turn all the time.
    expect(apiServers()).toBe(1);
    expect((await bed.project.servers())[0]?.outputs?.["status"]).toBeUndefined();
    expect((await up.result).code).toBe(0);
    expect((await bed.project.destroy()).code).toBe(0);
  });
});
