import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parsePrivateKey } from "../../provider/src/ssh/key-files";
import { runOnce, specOf, temporaryFolder } from "../support/ssh-hosts";
import { startSshd, type Sshd } from "../support/sshd";

const passphrase = "correct horse";
const folder = temporaryFolder();
const keys: Readonly<Record<string, KeyObject>> = {
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
  "ecdsa 256": generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
  "ecdsa 521": generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey,
  ed25519: generateKeyPairSync("ed25519").privateKey,
};
let sshd: Sshd;

beforeAll(async () => {
  sshd = await startSshd({ home: folder.path, authorizedKeys: Object.values(keys).map(publicLineOf) });
});

afterAll(async () => {
  await sshd.stop();
  folder.remove();
});

/** OpenSSH's line of a key that ssh-keygen did not make. */
function publicLineOf(key: KeyObject): string {
  if (key.asymmetricKeyType !== "ed25519") {
    const path = join(folder.path, "public.pem");
    writeFileSync(path, createPublicKey(key).export({ type: "spki", format: "pem" }));
    return execFileSync("ssh-keygen", ["-i", "-m", "PKCS8", "-f", path], { encoding: "utf8" }).trim();
  }
  // ssh-keygen 9.2 does not read this one.
  const type = Buffer.from("ssh-ed25519");
  const open = Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
  const blob = Buffer.concat([
    Buffer.from([0, 0, 0, type.length]),
    type,
    Buffer.from([0, 0, 0, open.length]),
    open,
  ]);
  return `ssh-ed25519 ${blob.toString("base64")}`;
}

function pkcs8(key: KeyObject | undefined, isEncrypted: boolean): string {
  const cipher = isEncrypted ? { cipher: "aes-256-cbc", passphrase } : {};
  return key?.export({ type: "pkcs8", format: "pem", ...cipher }).toString() ?? "";
}

describe.each(Object.keys(keys))("a %s key in PKCS#8, as openssl and @pulumi/tls write it", (name) => {
  test("is let in", async () => {
    const spec = specOf(sshd, { privateKey: pkcs8(keys[name], false) });
    expect(await runOnce(spec, "echo hello")).toMatchObject({ stdout: "hello\n" });
  });

  test("with a passphrase is let in", async () => {
    const spec = specOf(sshd, { privateKey: pkcs8(keys[name], true), privateKeyPassword: passphrase });
    expect(await runOnce(spec, "echo hello")).toMatchObject({ stdout: "hello\n" });
  });

  test("with a wrong or missing passphrase is told", () => {
    const text = pkcs8(keys[name], true);
    expect(parsePrivateKey(text, "battery staple")).toEqual({
      ok: false,
      problem: "privateKeyPassword does not open it",
    });
    expect(parsePrivateKey(text, null)).toEqual({
      ok: false,
      problem: "it is encrypted, need privateKeyPassword or an SSH agent that holds it",
    });
  });
});

describe("what is wrong with a key is told", () => {
  const wrong = "privateKeyPassword does not open it";
  const cipherProblem =
    "the cipher it is encrypted with is not supported, need another (ssh-keygen -p -Z aes256-ctr) or an SSH agent that holds it";

  test.each([
    ["aes256-ctr", "battery staple", wrong],
    ["aes256-gcm@openssh.com", "battery staple", wrong],
    ["3des-cbc", "battery staple", wrong],
    ["chacha20-poly1305@openssh.com", passphrase, cipherProblem],
  ])("encrypted with %s and opened with %s", (cipher, given, problem) => {
    const path = join(folder.path, cipher);
    execFileSync("ssh-keygen", [
      "-q",
      "-t",
      "ed25519",
      "-a",
      "1",
      "-N",
      passphrase,
      "-Z",
      cipher,
      "-f",
      path,
    ]);
    expect(parsePrivateKey(readFileSync(path, "utf8"), given)).toEqual({ ok: false, problem });
  });

  test.each([
    ["cut in the middle", pkcs8(keys["rsa"], false).slice(0, 400)],
    ["of a kind that SSH has not", generateKeyPairSync("x25519").privateKey],
    ["no key at all", "hello"],
  ])("%s", (_name, key) => {
    const text = typeof key === "string" ? key : pkcs8(key, false);
    for (const given of [null, passphrase])
      expect(parsePrivateKey(text, given)).toEqual({
        ok: false,
        problem: "its format is not supported, need a private key of OpenSSH, PEM, PKCS#8 or PuTTY",
      });
  });
});
