import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { ServerChannel } from "ssh2";
import type { HostSpec } from "../../provider/src/core/spec";
import { agentFor, closeAllConnections } from "../../provider/src/remote/connection-pool";
import { hostSpec } from "../support/ssh-hosts";
import { startSshServer, type SshServer } from "../support/ssh-server";

afterEach(async () => {
  vi.useRealTimers();
  await closeAllConnections();
});

const flagsReply =
  '{"event": "hello", "protocol": 1, "python": "3"}\n{"event": "result", "result": {"version": null, "flags": []}}\n';
const flags = { version: null, flags: [] };

async function start(
  onCommand: (channel: ServerChannel, server: () => SshServer) => void = answer,
): Promise<SshServer> {
  const server: SshServer = await startSshServer({
    password: "pw-one",
    onCommand: (_command, channel) => {
      onCommand(channel, () => server);
    },
  });
  onTestFinished(() => server.stop());
  return server;
}

function answer(channel: ServerChannel): void {
  channel.write(flagsReply);
  channel.exit(0);
  channel.end();
}

function spec(server: SshServer, given: Partial<HostSpec> = {}): HostSpec {
  const { address, port, user, knownHostsPath } = server;
  return hostSpec({
    host: address,
    port,
    user,
    password: "pw-one",
    knownHostsFile: knownHostsPath,
    ...given,
  });
}

test("calls of one moment share one connection, and so do later ones", async () => {
  const server = await start();
  await Promise.all(Array.from({ length: 12 }, () => agentFor(spec(server), 10).flags("/v")));
  await agentFor({ ...spec(server), python: "/usr/bin/python3" }, 20).flags("/v");
  expect({ connections: server.connectionCount(), commands: server.commands().length }).toEqual({
    connections: 1,
    commands: 13,
  });
});

test("other credentials have a connection of their own", async () => {
  const server = await start();
  await agentFor(spec(server), 10).flags("/v");
  await expect(agentFor(spec(server, { password: "pw-two" }), 10).flags("/v")).rejects.toMatchObject({
    code: "AUTHENTICATION_FAILED",
  });
  expect(server.connectionCount()).toBe(2);
});

test("nothing is opened before the first call", async () => {
  const server = await start();
  agentFor(spec(server), 10);
  expect(server.connectionCount()).toBe(0);
});

test("callers who wait for the same connection get the same failure, and the next call tries again", async () => {
  const server = await start();
  const wrong = spec(server, { password: "pw-bad" });
  const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => agentFor(wrong, 10).flags("/v")));
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  expect(server.connectionCount()).toBe(1);
  await expect(agentFor(wrong, 10).flags("/v")).rejects.toMatchObject({ code: "AUTHENTICATION_FAILED" });
  expect(server.connectionCount()).toBe(2);
});

test("a call that loses its connection fails, and only the next call opens a new one", async () => {
  let isFirst = true;
  const server = await start((channel, self) => {
    if (isFirst) self().cut();
    else answer(channel);
    isFirst = false;
  });
  const agent = agentFor(spec(server), 10);
  await expect(agent.flags("/v")).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect(server.connectionCount()).toBe(1);
  expect(await agent.flags("/v")).toEqual(flags);
  expect(server.connectionCount()).toBe(2);
});

test("a connection is closed when nobody has used it for a minute", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const server = await start();
  const agent = agentFor(spec(server), 10);
  const first = agent.flags("/v");
  await vi.waitFor(() => first);
  await vi.advanceTimersByTimeAsync(40_000);
  await agent.flags("/v");
  await vi.advanceTimersByTimeAsync(59_999);
  await agent.flags("/v");
  expect(server.connectionCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(60_001);
  await agent.flags("/v");
  expect(server.connectionCount()).toBe(2);
});

test("a connection stays open while a call to another host takes longer than that", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const waiting: ServerChannel[] = [];
  const [server, busy] = [await start(), await start((channel) => waiting.push(channel))];
  await agentFor(spec(server), 10).flags("/v");
  const long = agentFor(spec(busy), 300).flags("/v");
  await vi.waitFor(() => {
    expect(waiting).toHaveLength(1);
  });
  await vi.advanceTimersByTimeAsync(200_000);
  await agentFor(spec(server), 10).flags("/v");
  expect(server.connectionCount()).toBe(1);
  waiting.forEach(answer);
  expect(await long).toEqual(flags);
});

test("after all connections were closed, the next call opens one again", async () => {
  const server = await start();
  const agent = agentFor(spec(server), 10);
  await agent.flags("/v");
  await closeAllConnections();
  expect(await agent.flags("/v")).toEqual(flags);
  expect(server.connectionCount()).toBe(2);
});
