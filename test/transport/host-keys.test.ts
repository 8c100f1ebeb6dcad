import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { VllmServerError } from "../../provider/src/core/errors";
import type { HostSpec } from "../../provider/src/core/spec";
import { runOnce, specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshServer } from "../support/ssh-server";
import { makeKey, publicLine, startSshd, type Sshd } from "../support/sshd";

const folder = temporaryFolder();
let sshd: Sshd;
let otherKey: string;
let count = 0;

beforeAll(async () => {
  otherKey = publicLine(makeKey(folder.path, "other", "ed25519"));
  sshd = await startSshd({ home: folder.path, hostKeyTypes: ["ed25519", "ecdsa", "rsa"] });
});

afterAll(async () => {
  await sshd.stop();
  folder.remove();
});

function knownHosts(lines: readonly string[]): string {
  count += 1;
  const path = join(folder.path, `known_hosts_${String(count)}`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

function here(): string {
  return `[${sshd.address}]:${String(sshd.port)}`;
}

function keyLine(type: string): string {
  return sshd.hostKeyLines.find((line) => line.includes(type)) ?? "";
}

/** Trusts these known_hosts lines and no other file. */
function knowing(lines: readonly string[], given: Partial<HostSpec> = {}): HostSpec {
  return specOf(sshd, { knownHostsFile: knownHosts(lines), ...given });
}

function fingerprintOf(line: string): string {
  return execFileSync("ssh-keygen", ["-lf", "-"], { input: line, encoding: "utf8" }).split(" ")[1] ?? "";
}

async function isTrusted(spec: HostSpec): Promise<boolean> {
  return (await runOnce(spec, "true")).exitCode === 0;
}

async function failure(spec: HostSpec): Promise<Pick<VllmServerError, "code" | "details">> {
  const error: unknown = await runOnce(spec, "true").catch((caught: unknown) => caught);
  if (!(error instanceof VllmServerError))
    throw new Error("was trusted, or failed in another way", { cause: error });
  return { code: error.code, details: error.details };
}

describe("a key is trusted when a line of known_hosts has it", () => {
  test.each(["ed25519", "nistp256", "rsa"])(
    "the only known type is %s, though the host has others",
    async (type) => {
      expect(await isTrusted(knowing([`${here()} ${keyLine(type)}`]))).toBe(true);
    },
  );

  test("under a hashed name", async () => {
    const path = knownHosts([`${here()} ${keyLine("ed25519")}`]);
    execFileSync("ssh-keygen", ["-q", "-H", "-f", path], { stdio: "ignore" });
    expect(readFileSync(path, "utf8")).toMatch(/^\|1\|/);
    expect(await isTrusted(specOf(sshd, { knownHostsFile: path }))).toBe(true);
  });

  test("by a wildcard, among several names and after comments and broken lines", async () => {
    expect(
      await isTrusted(
        knowing(["# comment", "", "broken", `gpu1,[127.0.0.*]:*,gpu2 ${keyLine("ed25519")} note`]),
      ),
    ).toBe(true);
  });

  test("as one of several keys of its type", async () => {
    expect(await isTrusted(knowing([`${here()} ${otherKey}`, `${here()} ${keyLine("ed25519")}`]))).toBe(true);
  });

  test("under the plain name for another port, as OpenSSH allows", async () => {
    expect(await isTrusted(knowing([`${sshd.address} ${keyLine("ed25519")}`]))).toBe(true);
  });

  test("under HostKeyAlias", async () => {
    const config = join(folder.path, "alias-config");
    writeFileSync(config, "Host *\n  HostKeyAlias gpu-behind-nat\n");
    expect(
      await isTrusted(knowing([`gpu-behind-nat ${keyLine("ed25519")}`], { sshConfigFile: config })),
    ).toBe(true);
  });
});

describe("an unknown key", () => {
  test("is refused with its fingerprint and the commands that accept it", async () => {
    const spec = knowing([]);
    const print = fingerprintOf(keyLine("ed25519"));
    expect(await failure(spec)).toEqual({
      code: "HOST_KEY_UNKNOWN",
      details: {
        code: "HOST_KEY_UNKNOWN",
        summary: `Cannot trust host ${sshd.address}:${String(sshd.port)}: its ssh-ed25519 key ${print} is not known, need a known or pinned host key`,
        evidence: expect.stringContaining(`looked in ${String(spec.knownHostsFile)}`),
        change:
          `compare the fingerprint with the host's own, then ssh-keyscan -t ed25519 -p ${String(sshd.port)} ${sshd.address} >> ${String(spec.knownHostsFile)}, ` +
          `or ssh -p ${String(sshd.port)} ${sshd.user}@${sshd.address} once, or set hostKey: "${print}"`,
        path: "host.hostKey",
        retryable: false,
      },
    });
  });

  test("is refused where known_hosts cannot be read, and the error says so", async () => {
    const config = join(folder.path, "two-files");
    writeFileSync(
      config,
      `UserKnownHostsFile ${folder.path} ${folder.path}/none\nGlobalKnownHostsFile none\n`,
    );
    expect(await failure(specOf(sshd, { knownHostsFile: null, sshConfigFile: config }))).toMatchObject({
      code: "HOST_KEY_UNKNOWN",
      details: {
        evidence: `looked in ${folder.path} (cannot be read: EISDIR), ${folder.path}/none (not there)`,
      },
    });
  });

  test("is accepted after the command that the error names was run", async () => {
    const spec = knowing([]);
    const { details } = await failure(spec);
    const command = /ssh-keyscan .*? >> \S+(?=,)/.exec(String(details.change))?.[0] ?? "";
    execFileSync("sh", ["-c", command], { stdio: "ignore" });
    expect(await isTrusted(spec)).toBe(true);
  });

  test("is refused by a negated pattern", async () => {
    expect(await failure(knowing([`[127.0.0.*]:*,!${here()} ${keyLine("ed25519")}`]))).toMatchObject({
      code: "HOST_KEY_UNKNOWN",
    });
  });

  test("is refused although StrictHostKeyChecking is off, and the error says so", async () => {
    const config = join(folder.path, "lax-config");
    writeFileSync(config, "Host *\n  StrictHostKeyChecking no\n");
    expect(await failure(knowing([], { sshConfigFile: config }))).toMatchObject({
      code: "HOST_KEY_UNKNOWN",
      details: { evidence: expect.stringContaining("StrictHostKeyChecking no is not followed") },
    });
  });

  test("is refused although a certificate authority is known, and the error says so", async () => {
    expect(await failure(knowing([`@cert-authority * ${otherKey}`]))).toMatchObject({
      code: "HOST_KEY_UNKNOWN",
      details: { evidence: expect.stringContaining("@cert-authority lines are not used") },
    });
  });

  test("ends the try at once: one connection and no login", async () => {
    const before = sshd.connectionCount();
    await failure(knowing([], { dialErrorLimit: 0 }));
    await sshd.logged(new RegExp(`(Connection from[\\s\\S]*){${String(before + 1)}}`));
    expect(sshd.connectionCount()).toBe(before + 1);
  });
});

describe("a changed key", () => {
  test("is refused with the place of the old one and the command that removes it", async () => {
    const spec = knowing(["# first line", `${here()} ${otherKey}`]);
    expect(await failure(spec)).toMatchObject({
      code: "HOST_KEY_CHANGED",
      details: {
        evidence: `ssh-ed25519 ${fingerprintOf(otherKey)}`,
        evidencePlace: `${String(spec.knownHostsFile)}:2`,
        change: expect.stringContaining(`ssh-keygen -R '${here()}' -f ${String(spec.knownHostsFile)}`),
        retryable: false,
      },
    });
  });

  test("is one that was never known after the command that the error names was run", async () => {
    const spec = knowing([`${here()} ${otherKey}`]);
    const { details } = await failure(spec);
    execFileSync("sh", ["-c", /ssh-keygen .*?(?=,)/.exec(String(details.change))?.[0] ?? ""], {
      stdio: "ignore",
    });
    expect(await failure(spec)).toMatchObject({ code: "HOST_KEY_UNKNOWN" });
  });
});

test("a revoked key is refused although another line knows it", async () => {
  const spec = knowing([`${here()} ${keyLine("ed25519")}`]);
  appendFileSync(String(spec.knownHostsFile), `@revoked * ${keyLine("ed25519")}\n`);
  expect(await failure(spec)).toMatchObject({
    code: "HOST_KEY_REVOKED",
    details: { evidencePlace: `${String(spec.knownHostsFile)}:2`, retryable: false },
  });
});

describe("a pinned key", () => {
  test.each(["ed25519", "nistp256", "rsa"])("as a line of type %s needs no known_hosts", async (type) => {
    expect(await isTrusted(knowing([], { hostKey: `${keyLine(type)} note` }))).toBe(true);
  });

  test.each(["ed25519", "nistp256", "rsa"])(
    "as the fingerprint of the %s key needs no known_hosts",
    async (type) => {
      expect(await isTrusted(knowing([], { hostKey: fingerprintOf(keyLine(type)) }))).toBe(true);
    },
  );

  test("wins over known_hosts: another key is refused", async () => {
    expect(await failure(specOf(sshd, { hostKey: otherKey }))).toMatchObject({
      code: "HOST_KEY_CHANGED",
      details: { evidence: fingerprintOf(otherKey), evidencePlace: "host.hostKey", retryable: false },
    });
  });

  test("as a fingerprint that no key of the host has is refused", async () => {
    expect(await failure(specOf(sshd, { hostKey: fingerprintOf(otherKey) }))).toMatchObject({
      code: "HOST_KEY_CHANGED",
    });
    const single = await startSshServer({ hostKeyType: "ecdsa" });
    onTestFinished(() => single.stop());
    expect(
      await failure(specOf({ ...single, privateKey: sshd.privateKey }, { hostKey: fingerprintOf(otherKey) })),
    ).toMatchObject({
      code: "HOST_KEY_CHANGED",
    });
  });

  test("that is no key is an input error", async () => {
    expect(await failure(specOf(sshd, { hostKey: "ssh-ed25519 nonsense" }))).toMatchObject({
      code: "INPUT_INVALID",
      details: { path: "host.hostKey" },
    });
  });
});
