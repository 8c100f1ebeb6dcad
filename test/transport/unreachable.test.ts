import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startCutProxy, type CutProxy } from "../support/cut-proxy";
import { runOnce, specOf, temporaryFolder } from "../support/ssh-hosts";
import { freePort } from "../support/free-port";
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

async function proxied(): Promise<CutProxy> {
  const proxy = await startCutProxy({ target: sshd });
  onTestFinished(() => proxy.close());
  return proxy;
}

function through(proxy: CutProxy, given: Parameters<typeof specOf>[1] = {}): ReturnType<typeof specOf> {
  return specOf(sshd, { port: proxy.port, hostKey: sshd.hostKeyLine, ...given });
}

test("a refused connection is tried again, as often as dialErrorLimit says", async () => {
  const port = await freePort("127.0.0.1");
  await expect(runOnce(specOf(sshd, { port, dialErrorLimit: 2 }), "true")).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    details: {
      summary: `Cannot connect to 127.0.0.1:${String(port)}: connection refused: nothing listens on the port, need an SSH server that answers`,
      evidence: expect.stringMatching(/^2 tries in 0\.[2-9] s$/),
      retryable: true,
    },
  });
});

test("without a limit it is tried until the time for connecting is over", async () => {
  const port = await freePort("127.0.0.1");
  const begin = performance.now();
  await expect(
    runOnce(specOf(sshd, { port, dialErrorLimit: 0 }), "true", { connectSeconds: 2 }),
  ).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    details: { evidence: expect.stringMatching(/^[2-5] tries in/) },
  });
  expect(performance.now() - begin).toBeLessThan(2500);
});

test("a host that comes up meanwhile is reached", async () => {
  const proxy = await proxied();
  proxy.refuse(true);
  const running = runOnce(through(proxy, { dialErrorLimit: 10 }), "echo hello");
  await expect.poll(() => proxy.connectionCount()).toBeGreaterThan(0);
  proxy.refuse(false);
  expect(await running).toMatchObject({ exitCode: 0, stdout: "hello\n" });
  expect(proxy.connectionCount()).toBeGreaterThan(1);
});

test("a host that never answers costs one time for a try each, and no more", async () => {
  const proxy = await proxied();
  proxy.stall();
  await expect(
    runOnce(through(proxy, { perDialTimeoutSeconds: 0.4, dialErrorLimit: 2 }), "true"),
  ).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    message: expect.stringContaining("no answer within the time for one try"),
    details: { retryable: true },
  });
  expect(proxy.connectionCount()).toBe(2);
});

test("a name that does not exist is told as such", async () => {
  await expect(
    runOnce(specOf(sshd, { host: "no-such-host.invalid", dialErrorLimit: 2 }), "true"),
  ).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    // A machine without a name server says "right now" for every name.
    details: { evidence: expect.stringMatching(/^(?:1 try|2 tries) in/) },
    message: expect.stringMatching(/there is no such host name|the name cannot be looked up right now/),
  });
});

test("something else than SSH on the port is told", async () => {
  const server: Server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.resume();
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  await expect(runOnce(specOf(sshd, { port }), "true")).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    message: expect.stringContaining("the connection ended before SSH began"),
  });
});

test("a refused login is not tried again", async () => {
  const before = sshd.connectionCount();
  await expect(runOnce(specOf(sshd, { user: "nobody", dialErrorLimit: 0 }), "true")).rejects.toMatchObject({
    code: "AUTHENTICATION_FAILED",
  });
  expect(sshd.connectionCount()).toBe(before + 1);
});
