import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { agentFor, closeAllConnections } from "../../provider/src/remote/connection-pool";
import type { ServerQuery } from "../../provider/src/remote/protocol";
import { startCutProxy } from "../support/cut-proxy";
import { specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshd, type Sshd } from "../support/sshd";

const home = temporaryFolder();
let sshd: Sshd;

beforeAll(async () => {
  sshd = await startSshd({ home: home.path });
});

afterAll(async () => {
  await closeAllConnections();
  await sshd.stop();
  home.remove();
});

function query(serverId: string): ServerQuery {
  return {
    serverId,
    urn: `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/vllm:VllmServer::${serverId}`,
    listen: { address: "127.0.0.1", port: 8000 },
    secretEnvironment: {},
  };
}

test("ten queries of one moment travel in one command over one connection, and each gets its own place", async () => {
  const agent = agentFor(specOf(sshd), 20);
  const ids = Array.from({ length: 10 }, (_none, index) => `server-0000000${String(index)}`);
  const seen = await Promise.all(ids.map((id) => agent.observe(query(id))));
  expect(seen.map((one) => one.queryIndex)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(seen.map((one) => one.servers[one.queryIndex]?.server.status)).toEqual(ids.map(() => "absent"));
  expect(seen[0]?.host).toMatchObject({
    home: home.path,
    stateRoot: `${home.path}/.local/state/pulumi-vllm`,
  });
  await sshd.logged(/Starting session/);
  expect({ connections: sshd.connectionCount(), commands: sshd.execCount() }).toEqual({
    connections: 1,
    commands: 1,
  });
});

test("queries that come while the connection is being opened travel along, and one that comes later does not", async () => {
  const proxy = await startCutProxy({ target: sshd, delayMilliseconds: 40 });
  onTestFinished(() => proxy.close());
  const agent = agentFor(specOf(sshd, { port: proxy.port, hostKey: sshd.hostKeyLine }), 20);
  const before = sshd.execCount();
  const first = agent.observe(query("server-00000000"));
  await expect.poll(() => proxy.connectionCount()).toBe(1);
  const second = agent.observe(query("server-00000001"));
  expect((await Promise.all([first, second])).map((one) => one.queryIndex)).toEqual([0, 1]);
  expect((await agent.observe(query("server-00000002"))).queryIndex).toBe(0);
  await expect.poll(() => sshd.execCount() - before).toBe(2);
});

test("without a connection every query hears why, and the next one tries again", async () => {
  const proxy = await startCutProxy({ target: sshd });
  onTestFinished(() => proxy.close());
  proxy.refuse(true);
  const agent = agentFor(specOf(sshd, { port: proxy.port, hostKey: sshd.hostKeyLine }), 20);
  const outcomes = await Promise.allSettled([agent.observe(query("a")), agent.observe(query("b"))]);
  expect(outcomes).toMatchObject([
    { reason: { code: "HOST_UNREACHABLE" } },
    { reason: { code: "HOST_UNREACHABLE" } },
  ]);
  proxy.refuse(false);
  expect((await agent.observe(query("a"))).queryIndex).toBe(0);
});

test("an error that the agent reports keeps its code", async () => {
  const agent = agentFor(specOf(sshd, { python: "/no/such/python3" }), 20);
  await expect(agent.observe(query("server-00000000"))).rejects.toMatchObject({
    code: "PYTHON_MISSING",
    details: { retryable: false },
  });
});
