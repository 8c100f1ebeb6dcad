import fc from "fast-check";
import { inflateSync } from "node:zlib";
import type { ServerChannel } from "ssh2";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { agentFor, closeAllConnections } from "../../provider/src/remote/connection-pool";
import type { AgentEvent, ServerQuery } from "../../provider/src/remote/protocol";
import { hostSpec } from "../support/ssh-hosts";
import { startSshServer, type SshServer } from "../support/ssh-server";

afterEach(() => closeAllConnections());

const observation = {
  host: {
    hostname: "gpu1",
    user: "ann",
    uid: 1000,
    home: "/home/ann",
    bootId: "b",
    stateRoot: "/s",
    pythonVersion: "3.11.2",
    diskFreeBytes: 1,
    shmFreeBytes: 2,
  },
  gpus: null,
  gpuError: null,
  servers: [],
};
const hello = '{"event": "hello", "protocol": 1, "python": "3.11.2"}\n';
const flagsResult = '{"event": "result", "result": {"version": "0.32.0", "flags": ["--model"]}}\n';
const flags = { version: "0.32.0", flags: ["--model"] };
const secret = 'sk-very"secret';

/** An agent that reads its whole standard input and then answers like this. */
async function answering(answer: (channel: ServerChannel, stdin: Buffer) => void): Promise<SshServer> {
  const server = await startSshServer({
    onCommand: (_command, channel) => {
      const chunks: Buffer[] = [];
      channel.on("data", (chunk: Buffer) => chunks.push(chunk));
      channel.on("end", () => {
        answer(channel, Buffer.concat(chunks));
      });
    },
  });
  onTestFinished(() => server.stop());
  return server;
}

function saying(text: string | Buffer, exitCode = 0, stderr = ""): Promise<SshServer> {
  return answering((channel) => {
    channel.stderr.write(stderr);
    channel.write(text);
    channel.exit(exitCode);
    channel.end();
  });
}

function agentOf(server: SshServer): ReturnType<typeof agentFor> {
  return agentFor(
    hostSpec({
      host: server.address,
      port: server.port,
      user: server.user,
      knownHostsFile: server.knownHostsPath,
    }),
    10,
  );
}

const query: ServerQuery = {
  serverId: null,
  urn: "urn",
  listen: { address: "127.0.0.1", port: 8000 },
  secretEnvironment: { VLLM_API_KEY: secret },
};

test("standard input is the length, the packed agent, and the request", async () => {
  let stdin: Buffer = Buffer.alloc(0);
  const server = await answering((channel, bytes) => {
    stdin = bytes;
    channel.end(hello + flagsResult);
  });
  expect(await agentOf(server).flags("/opt/vllm")).toEqual(flags);
  const lineEnd = stdin.indexOf(10);
  const length = Number(stdin.toString("latin1", 0, lineEnd));
  const bundle: unknown = JSON.parse(
    inflateSync(stdin.subarray(lineEnd + 1, lineEnd + 1 + length)).toString("utf8"),
  );
  expect(bundle).toMatchObject({
    loader: expect.stringContaining("BundleFinder"),
    modules: { agent: expect.any(String), "agent.main": expect.any(String) },
  });
  expect(JSON.parse(stdin.toString("utf8", lineEnd + 1 + length))).toEqual({
    op: "flags",
    executable: "/opt/vllm",
    environment: {},
    protocol: 1,
    deadlineSeconds: 300,
  });
  expect(server.commands()[0]).not.toContain("\n");
});

describe("what a login shell prints before the first event is let pass", () => {
  test.each([
    ["a motd", "Welcome to gpu1\n\n  * 3 updates\n"],
    ["JSON of somebody else", '{"not": "ours"}\n[1]\n'],
    ["a line without an end", "conda base> "],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 10])],
  ])("%s", async (_name, noise) => {
    const server = await saying(Buffer.concat([Buffer.from(noise), Buffer.from(hello + flagsResult)]));
    expect(await agentOf(server).flags("/opt/vllm")).toEqual(flags);
  });

  test("and so is what one of its background jobs prints between the events", async () => {
    const server = await saying(
      `${hello}3 updates\nnews: {"event": "alive"}\n{"not": "ours"}\n${flagsResult}`,
    );
    expect(await agentOf(server).flags("/opt/vllm")).toEqual(flags);
  });
});

test("chunks may end anywhere, in the middle of a character too", async () => {
  const reply = Buffer.from(
    `${hello}{"event": "log", "first": 1, "lines": ["Grüße ✓", "${"x".repeat(300_000)}"]}\n{"event": "result", "result": {"steps": []}}\n`,
  );
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(reply.length), { maxLength: 12 }), async (cuts) => {
      const server = await answering((channel) => {
        const ends = [...cuts].sort((one, other) => one - other);
        for (const [index, end] of [...ends, reply.length].entries())
          channel.write(reply.subarray(ends[index - 1] ?? 0, end));
        channel.exit(0);
        channel.end();
      });
      const events: AgentEvent[] = [];
      const request = {
        serverId: "a",
        urn: "u",
        client: "c",
        lockWaitSeconds: 1,
        expect: { generation: 0, leaderPid: null },
        steps: [],
      };
      const result = await agentOf(server).apply(request, 9, (event) => events.push(event));
      expect(result).toEqual({ steps: [] });
      expect(events.map((event) => event.event)).toEqual(["hello", "log", "result"]);
      expect(events[1]).toMatchObject({ lines: ["Grüße ✓", expect.stringMatching(/^x{300000}$/)] });
    }),
    { numRuns: 8 },
  );
});

test("an error event keeps code, proof and change", async () => {
  const error = {
    code: "DISK_FULL",
    summary: "Cannot write /s/a: no space left",
    evidence: "0 bytes free",
    change: "free some",
    retryable: true,
  };
  const server = await saying(`${hello}${JSON.stringify({ event: "error", error })}\n`, 2);
  await expect(agentOf(server).flags("/opt/vllm")).rejects.toMatchObject({
    code: "DISK_FULL",
    details: error,
  });
});

test("an error code that nobody knows is AGENT_CRASHED", async () => {
  const error = { code: "ODD", summary: "Cannot say", retryable: false };
  const server = await saying(`${hello}${JSON.stringify({ event: "error", error })}\n`, 2);
  await expect(agentOf(server).flags("/opt/vllm")).rejects.toMatchObject({ code: "AGENT_CRASHED" });
});

describe("a reply is broken", () => {
  const reply = (found: string): string =>
    `read the agent's reply from tester@127.0.0.1:PORT: ${found}, need a whole one`;

  test.each([
    [
      "without any event: what was printed, the exit and standard error are told",
      "Account expired\n",
      127,
      "sh: python: not found\n",
      "last lines: Account expired; exit code 127; stderr: sh: python: not found",
      "run the agent on tester@127.0.0.1:PORT: the login shell ended without starting it, need an account that may run commands over SSH",
    ],
    ["that ends before its result", hello, 1, "", "exit code 1", reply("it ended without a result")],
    [
      "that ends before its result, with what else was printed",
      `${hello}Segmentation fault\n`,
      139,
      "",
      "last lines: Segmentation fault; exit code 139",
      reply("it ended without a result"),
    ],
    [
      "by an event that is torn",
      `${hello}{"event": "log", "first": 1, "li\n${flagsResult}`,
      0,
      "",
      'last lines: {"event": "log", "first": 1, "li',
      reply("it holds an event that makes no sense"),
    ],
    [
      "by an event that nobody knows",
      `${hello}{"event": "surprise"}\n${flagsResult}`,
      0,
      "",
      'last lines: {"event": "surprise"}',
      reply("it holds an event that makes no sense"),
    ],
    [
      "by a result of another shape",
      `${hello}{"event": "result", "result": {"flags": 3}}\n`,
      0,
      "",
      "exit code 0",
      reply("its result has another shape (version: Invalid input: expected string, received undefined)"),
    ],
    [
      "by another protocol",
      '{"event": "hello", "protocol": 2, "python": "3"}\n',
      0,
      "",
      undefined,
      reply("it speaks protocol 2 and not 1"),
    ],
  ])("%s", async (_name, text, exitCode, stderr, evidence, summary) => {
    const server = await saying(text, exitCode, stderr);
    const error: unknown = await agentOf(server)
      .flags("/opt/vllm")
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "AGENT_REPLY_BROKEN",
      details: {
        summary: `Cannot ${summary.replace("PORT", String(server.port))}`,
        evidence,
        change: expect.any(String),
        retryable: true,
      },
    });
  });

  test("and shows no half of a secret that stands where a long line is cut", async () => {
    const server = await saying(`${"x".repeat(295)}${secret} and more\n`, 1);
    const error: unknown = await agentOf(server)
      .observe(query)
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      details: { evidence: `last lines: ${"x".repeat(295)}[secr; exit code 1` },
    });
  });

  test("and shows no secret that it repeats", async () => {
    const server = await saying(`export VLLM_API_KEY=${secret}\n`, 1, `${JSON.stringify({ key: secret })}\n`);
    const error: unknown = await agentOf(server)
      .observe(query)
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "AGENT_REPLY_BROKEN",
      details: {
        evidence: 'last lines: export VLLM_API_KEY=[secret]; exit code 1; stderr: {"key":"[secret]"}',
      },
    });
  });

  test("when it has fewer servers than were asked for", async () => {
    const server = await saying(`${hello}${JSON.stringify({ event: "result", result: observation })}\n`);
    await expect(agentOf(server).observe(query)).rejects.toMatchObject({ code: "AGENT_REPLY_BROKEN" });
  });
});

test("a result that has arrived counts although the connection breaks right after it", async () => {
  const server = await startSshServer({
    onCommand: (_command, channel, connection) => {
      channel.write(hello + flagsResult);
      connection.end();
    },
  });
  onTestFinished(() => server.stop());
  expect(await agentOf(server).flags("/opt/vllm")).toEqual(flags);
});

test("a connection that breaks before the result is CONNECTION_LOST", async () => {
  const server = await startSshServer({
    onCommand: (_command, channel, connection) => {
      channel.write(hello);
      connection.end();
    },
  });
  onTestFinished(() => server.stop());
  await expect(agentOf(server).flags("/opt/vllm")).rejects.toMatchObject({ code: "CONNECTION_LOST" });
});
