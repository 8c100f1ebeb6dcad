import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../../provider/src/ssh/connect";
import { resolveTarget } from "../../provider/src/ssh/resolve-target";
import type { Connection } from "../../provider/src/ssh/ssh2-transport";
import { startCutProxy } from "../support/cut-proxy";
import { runOn, specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshServer } from "../support/ssh-server";
import { startSshd, type Sshd } from "../support/sshd";

const home = temporaryFolder();
let sshd: Sshd;

beforeAll(async () => {
  sshd = await startSshd({ home: home.path });
});

afterAll(async () => {
  await sshd.stop();
  home.remove();
});

/** Runs for ever, but ends by itself when nobody listens any more. */
const untilClosed = "while echo up; do sleep 0.2; done";

async function open(
  given: Parameters<typeof specOf>[1] = {},
  server: Parameters<typeof specOf>[0] = sshd,
): Promise<Connection> {
  const connection = await connect(await resolveTarget(specOf(server, given)), { connectSeconds: 20 });
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

describe("a command", () => {
  test("gets its standard input whole, however large, and its output comes back whole", async () => {
    const text = Buffer.alloc(12 * 1024 * 1024, "0123456789abcdef\n");
    const result = await runOn(await open(), "cat", { stdin: text });
    expect(result.exitCode).toBe(0);
    expect(result.stdout.length).toBe(text.length);
    expect(Buffer.from(result.stdout).equals(text)).toBe(true);
  });

  test("may end before it has read its standard input", async () => {
    const result = await runOn(await open(), "head -c 5; exit 7", {
      stdin: Buffer.alloc(8 * 1024 * 1024, "x"),
    });
    expect(result).toEqual({ exitCode: 7, signal: null, stderr: "", stdout: "xxxxx" });
  });

  test("keeps the last 64 KiB of its standard error", async () => {
    const result = await runOn(await open(), "yes 0123456 | head -c 200000 >&2; printf end >&2");
    expect(result.stderr.length).toBe(64 * 1024);
    expect(result.stderr.endsWith("0123456\nend")).toBe(true);
  });

  test("that a signal ended reports the signal and no exit code", async () => {
    expect(await runOn(await open(), "kill -KILL $$")).toEqual({
      exitCode: null,
      signal: "SIGKILL",
      stderr: "",
      stdout: "",
    });
  });

  test("that runs past its deadline fails with AGENT_DEADLINE, and the connection still works", async () => {
    const connection = await open();
    await expect(runOn(connection, "cat; exec sleep 2", { deadlineSeconds: 0.3 })).rejects.toMatchObject({
      code: "AGENT_DEADLINE",
    });
    expect(await runOn(connection, "echo on")).toMatchObject({ exitCode: 0, stdout: "on\n" });
  });

  test("that is never opened, since the link is dead, fails at its deadline too", async () => {
    const proxy = await startCutProxy({ target: sshd });
    onTestFinished(() => proxy.close());
    const connection = await open({ port: proxy.port, hostKey: sshd.hostKeyLine });
    proxy.stall();
    const begin = performance.now();
    await expect(runOn(connection, "true", { deadlineSeconds: 0.3 })).rejects.toMatchObject({
      code: "AGENT_DEADLINE",
    });
    expect(performance.now() - begin).toBeLessThan(5000);
  });

  test("of which enough was seen gives its place back though something still holds its output", async () => {
    const connection = await open();
    const begin = performance.now();
    const run = (): Promise<unknown> =>
      connection.exec("sleep 30 & echo done", {
        stdin: Buffer.alloc(0),
        deadlineSeconds: 30,
        onStdout: () => undefined,
        enough: Promise.resolve(),
      });
    await Promise.all(Array.from({ length: 20 }, run));
    expect(performance.now() - begin).toBeLessThan(20_000);
  });

  test("whose exit stands in the same packet as the answer keeps its exit code", async () => {
    const server = await startSshServer({
      onCommand: (_command, channel) => {
        channel.write("out");
        channel.stderr.write("err");
        channel.exit(3);
        channel.end();
      },
    });
    onTestFinished(() => server.stop());
    const connection = await open({}, { ...server, privateKey: readFileSync(sshd.privateKeyPath, "utf8") });
    expect(await runOn(connection, "x")).toEqual({ exitCode: 3, signal: null, stderr: "err", stdout: "out" });
  });
});

describe("many commands on one connection", () => {
  test("never hold more than 8 channels", async () => {
    const server = await startSshServer({
      onCommand: (_command, channel) => {
        channel.on("data", () => undefined);
        channel.on("end", () => {
          setTimeout(() => {
            channel.exit(0);
            channel.end();
          }, 20);
        });
      },
    });
    onTestFinished(() => server.stop());
    const connection = await open({}, { ...server, privateKey: sshd.privateKey });
    const results = await Promise.all(Array.from({ length: 20 }, () => runOn(connection, "x")));
    expect(results.map((result) => result.exitCode)).toEqual(Array.from({ length: 20 }, () => 0));
    expect({
      most: server.mostChannels(),
      commands: server.commands().length,
      connections: server.connectionCount(),
    }).toEqual({
      most: 8,
      commands: 20,
      connections: 1,
    });
  });

  test.each([1, 2, 3])("wait for room on a host that allows fewer (MaxSessions %i)", async (most) => {
    const narrow = await startSshd({ home: home.path, config: [`MaxSessions ${String(most)}`] });
    onTestFinished(() => narrow.stop());
    const connection = await open({}, narrow);
    const results = await Promise.all(
      Array.from({ length: 12 }, (_none, index) => runOn(connection, `echo ${String(index)}`)),
    );
    expect(results.map((result) => result.stdout)).toEqual(
      Array.from({ length: 12 }, (_none, index) => `${String(index)}\n`),
    );
    expect(narrow.connectionCount()).toBe(1);
  });
});

test("a host that opens no session at all is told after a few tries", async () => {
  const closed = await startSshd({ home: home.path, config: ["MaxSessions 0"] });
  onTestFinished(() => closed.stop());
  const connection = await open({}, closed);
  await expect(runOn(connection, "true")).rejects.toMatchObject({
    code: "CONNECTION_LOST",
    details: {
      summary: `Cannot run a command on ${closed.user}@127.0.0.1:${String(closed.port)}: the host opens no session, need an account that may run commands over SSH`,
      change: "host.user, or MaxSessions in the host's sshd_config",
    },
  });
});

describe("a connection that breaks", () => {
  test("fails every command that runs or waits with CONNECTION_LOST", async () => {
    const connection = await open();
    const talking = new Set<number>();
    const run = (_none: unknown, index: number): Promise<unknown> =>
      connection.exec(untilClosed, {
        stdin: Buffer.alloc(0),
        deadlineSeconds: 30,
        onStdout: () => {
          talking.add(index);
          if (talking.size === 8) sshd.cutAll();
        },
      });
    const outcomes = Promise.allSettled(Array.from({ length: 10 }, run));
    const codes = (await outcomes).map((outcome) => (outcome.status === "rejected" ? outcome.reason : null));
    expect(codes).toMatchObject(
      Array.from({ length: 10 }, () => ({ code: "CONNECTION_LOST", details: { retryable: true } })),
    );
    expect(connection.isOpen).toBe(false);
  });

  test("in the middle of the network is noticed too", async () => {
    const proxy = await startCutProxy({ target: sshd });
    onTestFinished(() => proxy.close());
    const connection = await open({ port: proxy.port, hostKey: sshd.hostKeyLine });
    const seen: string[] = [];
    const running = connection.exec(untilClosed, {
      stdin: Buffer.alloc(0),
      deadlineSeconds: 30,
      onStdout: (chunk) => {
        seen.push(chunk.toString());
        proxy.cut();
      },
    });
    await expect(running).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(seen[0]).toBe("up\n");
  });

  test("runs nothing more", async () => {
    const connection = await open();
    connection.close();
    await expect(runOn(connection, "true")).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });
});
