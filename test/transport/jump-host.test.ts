import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connect } from "../../provider/src/ssh/connect";
import { resolveTarget } from "../../provider/src/ssh/resolve-target";
import { hostSpec, runOn, runOnce, specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshServer } from "../support/ssh-server";
import { freePort } from "../support/free-port";
import { startSshd, type Sshd } from "../support/sshd";

const folder = temporaryFolder();
let bastion: Sshd;
let inner: Sshd;

beforeAll(async () => {
  bastion = await startSshd({ home: folder.path });
  inner = await startSshd({ home: folder.path, address: "127.0.0.2" });
});

afterAll(async () => {
  await Promise.all([bastion.stop(), inner.stop()]);
  folder.remove();
});

test("a proxy leads to the host, and both keys are checked", async () => {
  const spec = specOf(inner, { proxy: specOf(bastion) });
  expect(await runOnce(spec, "echo $SSH_CONNECTION | cut -d' ' -f3,4")).toMatchObject({
    exitCode: 0,
    stdout: `${inner.address} ${String(inner.port)}\n`,
  });
  await bastion.logged(/Accepted publickey/);
  await inner.logged(/Accepted publickey/);
});

test("a chain of ProxyJump leads through each host in turn", async () => {
  const last = await startSshd({ home: folder.path, address: "127.0.0.3" });
  onTestFinished(() => last.stop());
  const entry = (alias: string, server: Sshd): string =>
    `Host ${alias}\n  HostName ${server.address}\n  Port ${String(server.port)}\n  IdentityFile ${server.privateKeyPath}\n  UserKnownHostsFile ${server.knownHostsPath}\n`;
  const config = join(folder.path, "config");
  const entries = [
    entry("first", bastion),
    entry("second", inner),
    `${entry("last", last)}  ProxyJump first,second\n`,
  ];
  writeFileSync(config, `${entries.join("")}Host *\n  User ${last.user}\n  IdentityAgent none\n`);
  const before = { bastion: bastion.connectionCount(), inner: inner.connectionCount() };
  const spec = hostSpec({ host: "last", sshConfigFile: config });
  expect(await runOnce(spec, "echo $SSH_CONNECTION | cut -d' ' -f1,3")).toMatchObject({
    exitCode: 0,
    stdout: "127.0.0.1 127.0.0.3\n",
  });
  await last.logged(/Accepted publickey/);
  expect({
    bastion: bastion.connectionCount() - before.bastion,
    inner: inner.connectionCount() - before.inner,
  }).toEqual({ bastion: 1, inner: 1 });
});

test("an unknown key of the proxy is refused before anything is sent to the host", async () => {
  const before = inner.connectionCount();
  const spec = specOf(inner, { proxy: specOf(bastion, { knownHostsFile: "/no/such/file" }) });
  await expect(runOnce(spec, "true")).rejects.toMatchObject({
    code: "HOST_KEY_UNKNOWN",
    message: expect.stringContaining(`${bastion.address}:${String(bastion.port)}`),
  });
  expect(inner.connectionCount()).toBe(before);
});

test("an unknown key of the host behind a proxy is refused", async () => {
  const spec = specOf(inner, { proxy: specOf(bastion), knownHostsFile: "/no/such/file" });
  await expect(runOnce(spec, "true")).rejects.toMatchObject({
    code: "HOST_KEY_UNKNOWN",
    message: expect.stringContaining(`${inner.address}:${String(inner.port)}`),
  });
});

test("a host that the proxy cannot reach is unreachable, and the error names the proxy", async () => {
  const port = await freePort("127.0.0.1");
  const spec = specOf(inner, { host: "127.0.0.1", port, proxy: specOf(bastion) });
  await expect(runOnce(spec, "true")).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    message: expect.stringContaining(
      `through ${bastion.address}: the jump host cannot reach it (Connection refused), need`,
    ),
    details: { retryable: true },
  });
});

test("a proxy that is out of reach is blamed itself", async () => {
  const port = await freePort("127.0.0.1");
  const spec = specOf(inner, { proxy: specOf(bastion, { port }) });
  await expect(runOnce(spec, "true")).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    details: {
      summary: `Cannot connect to ${inner.address}:${String(inner.port)} through ${bastion.address}: its jump host ${bastion.address}:${String(port)} is out of reach: connection refused: nothing listens on the port, need an SSH server that answers`,
      retryable: true,
    },
  });
});

test("a proxy that forbids forwarding is told as such, and not tried again", async () => {
  const closed = await startSshd({ home: folder.path, config: ["AllowTcpForwarding no"] });
  onTestFinished(() => closed.stop());
  await expect(
    runOnce(specOf(inner, { proxy: specOf(closed), dialErrorLimit: 0 }), "true"),
  ).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    message: expect.stringContaining(
      "the jump host does not allow it (AllowTcpForwarding or PermitOpen in its sshd_config), need",
    ),
    details: { evidence: expect.stringMatching(/^1 try in/), retryable: false },
  });
});

test("a host that does not answer behind a proxy costs one time for a try, and the proxy is left", async () => {
  const silent = await startSshServer({ stallsForwards: true });
  onTestFinished(() => silent.stop());
  const proxy = specOf({ ...silent, privateKey: bastion.privateKey });
  const begin = performance.now();
  await expect(
    runOnce(specOf(inner, { proxy, perDialTimeoutSeconds: 0.5 }), "true", { connectSeconds: 20 }),
  ).rejects.toMatchObject({
    code: "HOST_UNREACHABLE",
    message: expect.stringContaining("the jump host has no answer from it within the time for one try"),
    details: { retryable: true },
  });
  expect(performance.now() - begin).toBeLessThan(5000);
  await expect.poll(() => silent.openConnections()).toBe(0);
});

test("losing the proxy is losing the connection", async () => {
  const connection = await connect(await resolveTarget(specOf(inner, { proxy: specOf(bastion) })), {
    connectSeconds: 20,
  });
  onTestFinished(() => {
    connection.close();
  });
  const running = connection.exec("while echo up; do sleep 0.2; done", {
    stdin: Buffer.alloc(0),
    deadlineSeconds: 30,
    onStdout: () => {
      bastion.cutAll();
    },
  });
  await expect(running).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await expect(runOn(connection, "true")).rejects.toMatchObject({ code: "CONNECTION_LOST" });
});
