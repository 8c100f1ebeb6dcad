import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { HostSpec } from "../../provider/src/core/spec";
import { startSshAgent } from "../support/ssh-agent";
import { hostSpec, runOnce, specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshServer } from "../support/ssh-server";
import { makeKey, publicLine, startSshd, type Sshd } from "../support/sshd";

const folder = temporaryFolder();
const passphrase = "correct horse";
const hello = { exitCode: 0, signal: null, stderr: "", stdout: "hello\n" };
let sshd: Sshd;
const keys = { locked: "", rsa: "", ecdsa: "", stranger: "" };

beforeAll(async () => {
  keys.locked = makeKey(folder.path, "locked", "ed25519", passphrase);
  keys.rsa = makeKey(folder.path, "rsa", "rsa");
  keys.ecdsa = makeKey(folder.path, "ecdsa", "ecdsa");
  keys.stranger = makeKey(folder.path, "stranger", "ed25519");
  sshd = await startSshd({
    home: folder.path,
    authorizedKeys: [keys.locked, keys.rsa, keys.ecdsa].map(publicLine),
  });
});

afterAll(async () => {
  await sshd.stop();
  folder.remove();
});

/** No key in it; the configuration file holds these lines for every host. */
function withConfig(lines: readonly string[], given: Partial<HostSpec> = {}): HostSpec {
  const path = join(folder.path, `config-${String(Math.random()).slice(2)}`);
  writeFileSync(path, `Host *\n${lines.map((line) => `  ${line}\n`).join("")}`);
  return specOf(sshd, { privateKey: null, sshConfigFile: path, ...given });
}

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function fingerprintOf(path: string): string {
  return execFileSync("ssh-keygen", ["-lf", `${path}.pub`], { encoding: "utf8" }).split(" ")[1] ?? "";
}

describe("a key as text", () => {
  test.each(["rsa", "ecdsa"] as const)("%s is let in", async (type) => {
    expect(await runOnce(specOf(sshd, { privateKey: read(keys[type]) }), "echo hello")).toEqual(hello);
  });

  test("with a passphrase is let in", async () => {
    const spec = specOf(sshd, { privateKey: read(keys.locked), privateKeyPassword: passphrase });
    expect(await runOnce(spec, "echo hello")).toEqual(hello);
  });

  test("without its passphrase is told, and nothing of the key is", async () => {
    const error: unknown = await runOnce(specOf(sshd, { privateKey: read(keys.locked) }), "true").catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({
      code: "AUTHENTICATION_FAILED",
      details: {
        evidence:
          "host.privateKey: it is encrypted, need privateKeyPassword or an SSH agent that holds it; the host takes: publickey",
      },
    });
    expect(String(error)).not.toContain(read(keys.locked).split("\n")[1]);
  });

  test("with a wrong passphrase is told, and the passphrase is not", async () => {
    const spec = specOf(sshd, { privateKey: read(keys.locked), privateKeyPassword: "battery staple" });
    const error: unknown = await runOnce(spec, "true").catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "AUTHENTICATION_FAILED",
      details: {
        evidence: "host.privateKey: privateKeyPassword does not open it; the host takes: publickey",
        retryable: false,
      },
    });
    expect(String(error)).not.toContain("battery");
  });
});

describe("identity files of the configuration", () => {
  test("are tried in order until one is let in", async () => {
    const spec = withConfig([
      `IdentityFile ${keys.stranger}`,
      `IdentityFile ${keys.rsa}`,
      "IdentityAgent none",
    ]);
    expect(await runOnce(spec, "echo hello")).toEqual(hello);
  });

  test("are not all tried where the host ends the login first, and the error says which were", async () => {
    const strict = await startSshd({ home: folder.path, config: ["MaxAuthTries 2"] });
    onTestFinished(() => strict.stop());
    const wrong = [keys.stranger, keys.rsa, keys.ecdsa];
    const spec = withConfig(["IdentityAgent none", ...wrong.map((path) => `IdentityFile ${path}`)], {
      port: strict.port,
      knownHostsFile: strict.knownHostsPath,
    });
    const label = (path: string): string => `key ${path} (${fingerprintOf(path)})`;
    await expect(runOnce(spec, "true")).rejects.toMatchObject({
      code: "AUTHENTICATION_FAILED",
      details: {
        summary: expect.stringContaining("the host ended the login (Too many authentication failures)"),
        evidence: [
          "SSH agent: none (SSH_AUTH_SOCK is not set)",
          `${label(keys.stranger)}: refused`,
          `${label(keys.rsa)}: the host ended the login here`,
          `${label(keys.ecdsa)}: not tried`,
          "the host takes: publickey",
        ].join("; "),
        change:
          "name the one key that fits: host.privateKey, or IdentityFile and IdentitiesOnly in the SSH configuration",
      },
    });
  });

  test("each way that failed is listed with its reason", async () => {
    const unreadable = join(folder.path, "folder-key");
    execFileSync("mkdir", ["-p", unreadable]);
    const spec = withConfig([
      "IdentityFile /no/such/key",
      `IdentityFile ${unreadable}`,
      `IdentityFile ${keys.locked}`,
      `IdentityFile ${keys.stranger}`,
      `IdentityAgent ${folder.path}/no.sock`,
    ]);
    await expect(runOnce(spec, "true")).rejects.toMatchObject({
      code: "AUTHENTICATION_FAILED",
      details: {
        evidence: [
          "key /no/such/key: there is no such file",
          `SSH agent ${folder.path}/no.sock: it cannot be reached`,
          `key ${unreadable}: it cannot be read (EISDIR)`,
          `key ${keys.locked}: it is encrypted, need privateKeyPassword or an SSH agent that holds it`,
          `key ${keys.stranger} (${fingerprintOf(keys.stranger)}): refused`,
          "the host takes: publickey",
        ].join("; "),
      },
    });
  });
});

describe("the SSH agent", () => {
  test("that was given is asked too where a key was given and refused", async () => {
    const agent = await startSshAgent();
    onTestFinished(() => agent.stop());
    await agent.add(keys.ecdsa);
    expect(
      await runOnce(
        specOf(sshd, { privateKey: read(keys.stranger), agentSocketPath: agent.socket }),
        "echo hello",
      ),
    ).toMatchObject({ stdout: "hello\n" });
    const unasked = withConfig([`IdentityAgent ${agent.socket}`], { privateKey: read(keys.stranger) });
    await expect(runOnce(unasked, "true")).rejects.toMatchObject({
      message: expect.stringMatching(
        /proof: {2}host\.privateKey \(SHA256:\S+\): refused; the host takes: publickey/,
      ),
    });
  });

  test("logs in with a key that it alone can use", async () => {
    const agent = await startSshAgent();
    onTestFinished(() => agent.stop());
    await agent.add(keys.ecdsa);
    expect(
      await runOnce(specOf(sshd, { privateKey: null, agentSocketPath: agent.socket }), "echo hello"),
    ).toEqual(hello);
  });

  test("with more keys than sshd lets be tried, the one of the identity file goes first", async () => {
    const agent = await startSshAgent();
    onTestFinished(() => agent.stop());
    for (let index = 0; index < 7; index += 1)
      await agent.add(makeKey(folder.path, `other-${String(index)}`, "ed25519"));
    await agent.add(keys.rsa);
    const publicHalf = join(folder.path, "chosen");
    copyFileSync(`${keys.rsa}.pub`, `${publicHalf}.pub`);
    const lines = [`IdentityFile ${publicHalf}`, `IdentityAgent ${agent.socket}`];
    expect(await runOnce(withConfig(lines), "echo hello")).toEqual(hello);
    await expect(runOnce(withConfig([`IdentityAgent ${agent.socket}`]), "true")).rejects.toMatchObject({
      code: "AUTHENTICATION_FAILED",
      message: expect.stringContaining("Too many authentication failures"),
    });
  });

  test("with IdentitiesOnly its other keys are left out", async () => {
    const agent = await startSshAgent();
    onTestFinished(() => agent.stop());
    await agent.add(keys.rsa);
    const spec = withConfig([
      `IdentityFile ${keys.stranger}`,
      "IdentitiesOnly yes",
      `IdentityAgent ${agent.socket}`,
    ]);
    await expect(runOnce(spec, "true")).rejects.toMatchObject({
      code: "AUTHENTICATION_FAILED",
      message: expect.stringContaining("SSH agent: 1 keys left out (IdentitiesOnly)"),
    });
  });
});

describe("passwords", () => {
  test("are used for the method password", async () => {
    const server = await startSshServer({ password: "hunter22" });
    onTestFinished(() => server.stop());
    const spec = hostSpec({
      host: server.address,
      port: server.port,
      user: server.user,
      password: "hunter22",
      knownHostsFile: server.knownHostsPath,
    });
    expect(await runOnce(spec, "true")).toMatchObject({ exitCode: 0 });
  });

  test("answer the hidden question of keyboard-interactive", async () => {
    const server = await startSshServer({
      questions: [
        { prompt: "Language: ", echo: true, answer: "" },
        { prompt: "Password: ", echo: false, answer: "hunter22" },
      ],
    });
    onTestFinished(() => server.stop());
    const spec = hostSpec({
      host: server.address,
      port: server.port,
      user: server.user,
      password: "hunter22",
      knownHostsFile: server.knownHostsPath,
    });
    expect(await runOnce(spec, "true")).toMatchObject({ exitCode: 0 });
  });

  test("that are wrong are refused once each way, and not shown", async () => {
    const server = await startSshServer({
      password: "hunter22",
      questions: [{ prompt: "Password: ", echo: false, answer: "hunter22" }],
    });
    onTestFinished(() => server.stop());
    const none = join(folder.path, "config-no-agent");
    writeFileSync(none, "IdentityAgent none\nIdentityFile none\n");
    chmodSync(none, 0o600);
    const spec = hostSpec({
      host: server.address,
      port: server.port,
      user: server.user,
      password: "wrong-one",
      knownHostsFile: server.knownHostsPath,
      sshConfigFile: none,
    });
    const error: unknown = await runOnce(spec, "true").catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "AUTHENTICATION_FAILED",
      details: {
        evidence:
          "SSH agent: none (SSH_AUTH_SOCK is not set); host.password: refused; host.password (keyboard-interactive): refused; the host takes: password, keyboard-interactive",
      },
    });
    expect(String(error)).not.toContain("wrong-one");
    expect(server.connectionCount()).toBe(1);
  });
});
