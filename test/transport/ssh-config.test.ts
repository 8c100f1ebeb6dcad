import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { hostIdentity } from "../../provider/src/ssh/host-identity";
import { resolveTarget } from "../../provider/src/ssh/resolve-target";
import type { Target } from "../../provider/src/ssh/target";
import { hostSpec, temporaryFolder } from "../support/ssh-hosts";

const folder = temporaryFolder();

afterAll(() => {
  folder.remove();
});

function file(name: string, text: string): string {
  const path = join(folder.path, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const main = file(
  "config",
  `
Include ${folder.path}/conf.d/*.conf
User everybody

Host gpu1 gpu-one
  HostName 10.1.2.3
  Port 2201
  user ubuntu
  IdentityFile ~/.ssh/first_%h
  IdentityFile "%d/with space/%r@%n"
  IdentitiesOnly yes
  UserKnownHostsFile ~/.ssh/known_%h ${folder.path}/more_known
  GlobalKnownHostsFile none
  HostKeyAlias gpu-alias
  ConnectTimeout 7

Host *.lab !secret.lab
  HostName %h.example.com
  Include ${folder.path}/inside.conf
  Port=2222

Match originalhost matched user root
  HostName by-match
Match host 10.1.2.3
  ServerAliveInterval 3

Host chained
  ProxyJump jump1,admin@jump2:2022
Host jump1
  HostName 10.0.0.1
  Port 2200
  User hopper

Host *
  Port 2299
  IdentityFile ~/.ssh/last
`,
);
file("conf.d/10-early.conf", "Host early\n  HostName 10.9.9.9\n  User included\n");
file("conf.d/.hidden.conf", "Host early\n  HostName never\n");
file("inside.conf", "User labuser\nHost other\n  User wrong\n");

function target(host: string, given: Parameters<typeof hostSpec>[0] | object = {}): Promise<Target> {
  return resolveTarget(hostSpec({ host, sshConfigFile: main, ...given }));
}

/** What OpenSSH makes of the same file. */
function opensshView(host: string, user?: string): Record<string, string[]> {
  const args = ["-G", "-F", main, ...(user === undefined ? [] : ["-l", user]), host];
  const view: Record<string, string[]> = {};
  for (const line of execFileSync("ssh", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .trim()
    .split("\n")) {
    const [name = "", ...value] = line.split(" ");
    (view[name] ??= []).push(value.join(" "));
  }
  return view;
}

describe("host name, port and user are those that ssh -G gives", () => {
  test.each([
    ["gpu1"],
    ["gpu-one"],
    ["early"],
    ["a.lab"],
    ["secret.lab"],
    ["other"],
    ["matched", "root"],
    ["matched", "ann"],
    ["chained"],
    ["10.1.2.3"],
  ])("%s %s", async (host, user?: string) => {
    const view = opensshView(host, user);
    const { hostname, port, user: account } = await target(host, { user: user ?? null });
    expect({ hostname, port: String(port), user: account }).toEqual({
      hostname: view["hostname"]?.[0],
      port: view["port"]?.[0],
      user: view["user"]?.[0],
    });
  });
});

test("every option that is used is taken over, with its tokens", async () => {
  expect(await target("gpu1")).toEqual({
    name: "gpu1",
    hostname: "10.1.2.3",
    port: 2201,
    user: "everybody",
    credentials: {
      password: null,
      privateKey: null,
      passphrase: null,
      identityFiles: [
        `${homedir()}/.ssh/first_10.1.2.3`,
        `${homedir()}/with space/everybody@gpu1`,
        `${homedir()}/.ssh/last`,
      ],
      areDefaultFiles: false,
      identitiesOnly: true,
      agentSocket: process.env["SSH_AUTH_SOCK"] ?? null,
      isAgentGiven: false,
    },
    hostKeys: {
      pinned: null,
      alias: "gpu-alias",
      knownHostsFiles: [`${homedir()}/.ssh/known_10.1.2.3`, `${folder.path}/more_known`],
      ignoredStrictness: null,
    },
    dialErrorLimit: 1,
    dialTimeoutSeconds: 10,
    jumps: [],
  });
});

test("what the input says itself wins", async () => {
  const { hostname, port, user, credentials, hostKeys } = await target("gpu1", {
    port: 22,
    user: "ann",
    agentSocketPath: "/agent.sock",
    knownHostsFile: "/known",
  });
  expect({ hostname, port, user, agent: credentials.agentSocket, files: hostKeys.knownHostsFiles }).toEqual({
    hostname: "10.1.2.3",
    port: 22,
    user: "ann",
    agent: "/agent.sock",
    files: ["/known"],
  });
});

test("without any configuration ssh's own defaults hold", async () => {
  const { hostname, port, user, credentials } = await resolveTarget(hostSpec({ host: "plain.example.com" }));
  expect({
    hostname,
    port,
    user,
    files: credentials.identityFiles,
    areDefaultFiles: credentials.areDefaultFiles,
  }).toEqual({
    hostname: "plain.example.com",
    port: 22,
    user: userInfo().username,
    files: ["id_ed25519", "id_ecdsa", "id_rsa"].map((name) => join(homedir(), ".ssh", name)),
    areDefaultFiles: true,
  });
});

test("yes and true, no and false are the same words", async () => {
  const path = file("words", "IdentitiesOnly true\nStrictHostKeyChecking FALSE\n");
  const { credentials, hostKeys } = await resolveTarget(hostSpec({ host: "x", sshConfigFile: path }));
  expect({ only: credentials.identitiesOnly, ignored: hostKeys.ignoredStrictness }).toEqual({
    only: true,
    ignored: "false",
  });
});

test("Include takes what glob(7) has: lists of characters too", async () => {
  for (const name of ["a1", "b1", "c1", "a2"]) file(`globbed/${name}.conf`, `IdentityFile /${name}\n`);
  const found = async (pattern: string): Promise<readonly string[]> => {
    const path = file("globbing", `Include ${folder.path}/globbed/${pattern}\n`);
    return (await resolveTarget(hostSpec({ host: "x", sshConfigFile: path }))).credentials.identityFiles;
  };
  expect(await found("[a-b]1.conf")).toEqual(["/a1", "/b1"]);
  expect(await found("[!a]?.conf")).toEqual(["/b1", "/c1"]);
});

test.each(["abc", "0", "70000", "22x"])("Port %s is an input error, not port 22", async (port) => {
  const path = file("port", `Host *\n  Port ${port}\n`);
  await expect(resolveTarget(hostSpec({ host: "x", sshConfigFile: path }))).rejects.toMatchObject({
    code: "INPUT_INVALID",
    details: {
      summary: `Cannot look up host x: the SSH configuration gives it Port ${port}, need a number from 1 to 65535`,
      change: "Port in the SSH configuration, or host.port",
      path: "host.port",
    },
  });
  expect(await resolveTarget(hostSpec({ host: "x", port: 23, sshConfigFile: path }))).toMatchObject({
    port: 23,
  });
});

test("reading a file never runs a program", async () => {
  const path = file(
    "running",
    `Match exec "touch ${folder.path}/was-run"\n  HostName by-exec\nHost *\n  Port 2203\n`,
  );
  const { hostname, port } = await resolveTarget(hostSpec({ host: "x", sshConfigFile: path }));
  expect({ hostname, port, wasRun: existsSync(`${folder.path}/was-run`) }).toEqual({
    hostname: "x",
    port: 2203,
    wasRun: false,
  });
});

describe("ProxyJump", () => {
  test("is a chain whose hosts are looked up themselves", async () => {
    const { jumps } = await target("chained");
    expect(jumps.map(({ hostname, port, user }) => ({ hostname, port, user }))).toEqual([
      { hostname: "10.0.0.1", port: 2200, user: "everybody" },
      { hostname: "jump2", port: 2022, user: "admin" },
    ]);
  });

  test("takes a hop as a URI too", async () => {
    const path = file("uri", "Host a\n  ProxyJump ssh://me@jump:2200/\n");
    const { jumps } = await resolveTarget(hostSpec({ host: "a", sshConfigFile: path }));
    expect(jumps.map(({ hostname, port, user }) => ({ hostname, port, user }))).toEqual([
      { hostname: "jump", port: 2200, user: "me" },
    ]);
  });

  test("that leads to the host itself is left out there", async () => {
    const path = file("everywhere", "Host bastion\n  HostName 10.0.0.9\nHost *\n  ProxyJump bastion\n");
    const seen = await resolveTarget(hostSpec({ host: "inner", user: "ann", sshConfigFile: path }));
    expect(seen.jumps.map((jump) => jump.hostname)).toEqual(["10.0.0.9"]);
    expect((await resolveTarget(hostSpec({ host: "bastion", sshConfigFile: path }))).jumps).toEqual([]);
  });

  test("in a circle is an input error", async () => {
    const path = file("circle", "Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n");
    await expect(resolveTarget(hostSpec({ host: "a", sshConfigFile: path }))).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  test("gives way to an explicit proxy", async () => {
    const { jumps } = await target("chained", { proxy: hostSpec({ host: "mine", port: 99, user: "me" }) });
    expect(jumps.map(({ hostname, port, user }) => ({ hostname, port, user }))).toEqual([
      { hostname: "mine", port: 99, user: "me" },
    ]);
  });

  test("cannot be replaced by ProxyCommand: that is an input error, not a time-out", async () => {
    const path = file("command", "Host *\n  ProxyCommand nc %h %p\n");
    await expect(resolveTarget(hostSpec({ host: "x", sshConfigFile: path }))).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("ProxyCommand"),
    });
  });
});

describe("a configuration file that cannot be used", () => {
  test("is an input error when it was named", async () => {
    await expect(
      resolveTarget(hostSpec({ host: "x", sshConfigFile: "/no/such/config" })),
    ).rejects.toMatchObject({
      code: "INPUT_INVALID",
      details: { path: "host.sshConfigFile" },
    });
  });

  test("does not keep a host from having an identity", () => {
    expect(hostIdentity(hostSpec({ host: "x", user: "ann", sshConfigFile: "/no/such/config" }))).toBe(
      "ann@x:22",
    );
  });
});

test("two ways of naming one machine have one identity", () => {
  const identities = [
    hostIdentity(hostSpec({ host: "gpu1", user: "ubuntu", sshConfigFile: main })),
    hostIdentity(hostSpec({ host: "gpu-one", user: "ubuntu", sshConfigFile: main, password: "other" })),
    hostIdentity(hostSpec({ host: "10.1.2.3", user: "ubuntu", port: 2201 })),
  ];
  expect(identities).toEqual(["ubuntu@10.1.2.3:2201", "ubuntu@10.1.2.3:2201", "ubuntu@10.1.2.3:2201"]);
});
