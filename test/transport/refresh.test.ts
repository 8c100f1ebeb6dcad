import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { agentFor, closeAllConnections } from "../../provider/src/remote/connection-pool";
import type { HostAgent } from "../../provider/src/remote/host-agent";
import type { ServerQuery } from "../../provider/src/remote/protocol";
import { launch, owner } from "../support/host-facts";
import { specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshd, type Sshd } from "../support/sshd";

/** The real agent on a host with twelve servers of one stack, none of them running. */

const COUNT = 12;
const ids = Array.from({ length: COUNT }, (_none, index) => `server-${String(index).padStart(8, "0")}`);
const [first = "", second = "", third = ""] = ids;
const home = temporaryFolder();
let sshd: Sshd;
let before: Counts;

beforeAll(async () => {
  sshd = await startSshd({ home: home.path });
});

afterAll(async () => {
  await sshd.stop();
  home.remove();
});

beforeEach(async () => {
  await closeAllConnections();
  for (const id of ids) record(id, { VLLM_API_KEY: `key of ${id}` });
  before = counts();
});

interface Counts {
  readonly connections: number;
  readonly commands: number;
}

function counts(): Counts {
  return { connections: sshd.connectionCount(), commands: sshd.execCount() };
}

/** Since the test began; sshd's log may be a moment late. */
function used(): Counts {
  const now = counts();
  return { connections: now.connections - before.connections, commands: now.commands - before.commands };
}

function urn(id: string): string {
  return `urn:pulumi:${owner.stack}::${owner.project}::pulumi-nodejs:dynamic/vllm:VllmServer::${id}`;
}

function record(id: string, secrets: Readonly<Record<string, string>>): void {
  const folder = join(home.path, ".local/state/pulumi-vllm", id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { secretEnvironment: _secret, ...plain } = launch;
  const started = { ...plain, listen: { address: "127.0.0.1", port: portOf(id) }, generation: 1 };
  const files = { owner: { ...owner, serverId: id, urn: urn(id) }, launch: started, secrets };
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(value), { mode: 0o600 });
}

function portOf(id: string): number {
  return 20_000 + ids.indexOf(id);
}

function query(id: string, parts: Partial<ServerQuery> = {}): ServerQuery {
  return {
    serverId: id,
    urn: urn(id),
    executable: null,
    checkpointPath: launch.modelPath,
    listen: { address: "127.0.0.1", port: portOf(id) },
    secretEnvironment: { VLLM_API_KEY: `key of ${id}` },
    ...parts,
  };
}

const agent = (connectSeconds = 20): HostAgent => agentFor(specOf(sshd), connectSeconds);

async function statusOf(asked: ServerQuery, by = agent()): Promise<unknown> {
  const seen = await by.refresh(asked);
  const { server, checkpoint } = seen.servers[seen.queryIndex] ?? {};
  return [server?.owner?.serverId, server?.status, server?.secretsMatch, checkpoint?.path];
}

const stopped = (id: string): unknown => [id, "stopped", true, launch.modelPath];

test("reads that come eight at a time, as in a refresh, cost one connection and one command", async () => {
  const left = [...ids];
  const told: unknown[] = [];
  const reader = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) told.push(await statusOf(query(id)));
  };
  await Promise.all(Array.from({ length: 8 }, reader));
  expect([...told].sort()).toEqual(ids.map(stopped));
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 1 });
});

test("how long to wait for a connection is no reason for a second look", async () => {
  expect(await statusOf(query(first))).toEqual(stopped(first));
  expect(await statusOf(query(second), agent(33))).toEqual(stopped(second));
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 1 });
});

test("secrets that are not those of the host are told without a further look", async () => {
  record(second, { VLLM_API_KEY: "another" });
  expect(await statusOf(query(first))).toEqual(stopped(first));
  expect(await statusOf(query(second))).toEqual([second, "stopped", false, launch.modelPath]);
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 1 });
});

test("a server that the look did not find, and one declared otherwise than it was started, are looked at by themselves", async () => {
  await statusOf(query(first));
  const gone = query("server-99999999");
  expect(await statusOf(gone)).toEqual([undefined, "absent", null, launch.modelPath]);
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 2 });
  const moved = query(second, { checkpointPath: "/models/other" });
  expect(await statusOf(moved)).toEqual([second, "stopped", true, "/models/other"]);
  expect(await statusOf(query(third))).toEqual(stopped(third));
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 3 });
});

test("once something was changed on the host, a read looks anew", async () => {
  await statusOf(query(first));
  const expected = { generation: 0, leaderPid: null };
  const request = { serverId: second, urn: urn(second), client: "ann@laptop", lockWaitSeconds: 5 };
  await agent().apply(
    { ...request, expect: expected, steps: [{ kind: "forget", purgeModel: false }] },
    30,
    () => undefined,
  );
  expect(await statusOf(query(third))).toEqual(stopped(third));
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 3 });
  expect(await statusOf(query(second))).toEqual([undefined, "absent", null, launch.modelPath]);
});

test("a look before a change answers that query alone: it is made anew each time", async () => {
  await statusOf(query(first));
  const seen = await agent().observe(query(second));
  expect(seen.servers[seen.queryIndex]?.server).toMatchObject({ status: "stopped", secretsMatch: true });
  await expect.poll(used, { timeout: 10_000 }).toEqual({ connections: 1, commands: 2 });
});
