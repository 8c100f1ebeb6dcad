import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeBed, type Bed } from "../support/bed";
import { TINY_LLAMA, writeCheckpoint } from "../support/checkpoints";
import { endByForce, processesOfHosts } from "../support/host-processes";
import type { StateResource } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";
import { startSshd, type Sshd } from "../support/sshd";
import { layOutStandIn } from "../support/stand-in";

/** Twelve servers, six on each of two hosts, refreshed together by the real CLI. */

const SERVERS = 12;
/** Those on the second host. */
const ODD = [1, 3, 5, 7, 9, 11];
let bed: Bed;
let far: Sshd;
let farHome: string;
let before: readonly Counts[];

beforeAll(async () => {
  bed = await makeBed();
  farHome = join(bed.folder, "far");
  mkdirSync(farHome);
  far = await startSshd({ home: farHome, address: "127.0.0.2" });
  const farHost = {
    ...bed.host,
    host: far.address,
    port: far.port,
    privateKey: far.privateKey,
    hostKey: far.hostKeyLine,
  };
  const { executable } = layOutStandIn(join(bed.folder, "vllm"));
  const model = { path: writeCheckpoint(join(bed.folder, "tiny"), { "config.json": TINY_LLAMA }) };
  const declared: Record<string, Readonly<Record<string, unknown>>> = {};
  for (let index = 0; index < SERVERS; index += 1) {
    declared[`server-${String(index)}`] = {
      ...(index % 2 === 0 ? {} : { host: farHost }),
      // A patched config: its overlay is served, and the checkpoint asked for.
      ...(index % 3 === 0 ? { configOverrides: { max_position_embeddings: 256 } } : {}),
      model,
      vllm: { executable },
      listen: { port: await freePort("127.0.0.1") },
      apiKey: `sk-of-server-${String(index)}`,
      environment: { STAND_IN_START_SECONDS: "0.2", STAND_IN_STOP_SECONDS: "0" },
    };
  }
  await bed.declare(declared);
  const { code, stdout, stderr } = await bed.project.up();
  expect(code, stdout + stderr).toBe(0);
});

afterAll(async () => {
  try {
    await bed.close();
  } finally {
    endByForce(processesOfHosts([farHome]));
    await far.stop();
  }
});

interface Counts {
  readonly connections: number;
  readonly commands: number;
}

const counts = (): readonly Counts[] =>
  [bed.sshd, far].map((sshd) => ({ connections: sshd.connectionCount(), commands: sshd.execCount() }));

/** Of each host, since the test began. */
const used = (): readonly Counts[] =>
  counts().map(({ connections, commands }, index) => ({
    connections: connections - (before[index]?.connections ?? 0),
    commands: commands - (before[index]?.commands ?? 0),
  }));

const ONE_LOOK = [
  { connections: 1, commands: 1 },
  { connections: 1, commands: 1 },
];

async function refresh(): Promise<string> {
  const { code, stdout, stderr } = await bed.project.refresh();
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

/** Name -> drift, of those that have any. */
async function drifted(): Promise<Readonly<Record<string, unknown>>> {
  const servers = await bed.project.servers();
  expect(servers).toHaveLength(SERVERS);
  const drift = servers.map(
    ({ urn, outputs }) => [urn.split("::").at(-1) ?? "", outputs?.["drift"]] as const,
  );
  return Object.fromEntries(drift.filter(([, reasons]) => Array.isArray(reasons) && reasons.length > 0));
}

beforeEach(() => {
  before = counts();
});

describe("a refresh of many servers", () => {
  it("costs one connection and one command a host, and finds nothing where nothing changed", async () => {
    expect(await refresh()).toContain(`${String(SERVERS + 1)} unchanged`);
    await expect.poll(used, { timeout: 10_000 }).toEqual(ONE_LOOK);
    expect(await drifted()).toEqual({});
  });

  it("costs no more when there is something to find: each server is told its own", async () => {
    for (const server of await onFarHost()) writeKey(server, "sk-of-server", "sk-not-of-server");
    await refresh();
    await expect.poll(used, { timeout: 10_000 }).toEqual(ONE_LOOK);
    const found = await drifted();
    expect(Object.keys(found).sort()).toEqual(ODD.map((index) => `server-${String(index)}`).sort());
    for (const reasons of Object.values(found)) expect(String(reasons)).toMatch(/apiKey: .* another value/);
  });

  it("is followed by an up that looks for itself, and repairs only what it finds", async () => {
    const servers = await onFarHost();
    for (const server of servers.slice(1)) writeKey(server, "sk-not-of-server", "sk-of-server");
    const { code, stdout, stderr } = await bed.project.up();
    expect(code, stdout + stderr).toBe(0);
    expect(used()[0]).toEqual({ connections: 0, commands: 0 });
    const starts = (await onFarHost()).map(({ outputs }) => outputs?.["generation"]);
    expect(starts.sort()).toEqual([...servers.slice(1).map(() => 1), 2]);
    before = counts();
    await refresh();
    await expect.poll(used, { timeout: 10_000 }).toEqual(ONE_LOOK);
    expect(await drifted()).toEqual({});
  });
});

async function onFarHost(): Promise<readonly StateResource[]> {
  const servers = await bed.project.servers();
  const found = servers.filter(({ urn }) => ODD.includes(Number(urn.split("-").at(-1))));
  expect(found).toHaveLength(ODD.length);
  return found;
}

/** Changes the recorded key by hand, as if the server had been started with it. */
function writeKey({ id }: StateResource, from: string, to: string): void {
  const file = join(farHome, ".local/state/pulumi-vllm", id ?? "", "secrets.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
}
