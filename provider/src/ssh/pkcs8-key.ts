import { createPrivateKey, type KeyObject } from "node:crypto";

/** Why a PKCS#8 key cannot be used. */
export type Pkcs8Problem = "encrypted" | "wrong passphrase" | "format";

/** Whether the text is PKCS#8, as openssl and @pulumi/tls write keys; ssh2 1.17 does not know that format. */
export function isPkcs8(text: string): boolean {
  return /-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----/.test(text);
}

/** The same key, without a passphrase, in a format that ssh2 knows. */
export function withoutPkcs8(
  text: string,
  passphrase: string | null,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: Pkcs8Problem } {
  const isEncrypted = text.includes("BEGIN ENCRYPTED");
  // Without one OpenSSL would ask for it on the terminal.
  if (isEncrypted && passphrase === null) return { ok: false, problem: "encrypted" };
  try {
    const key = createPrivateKey({ key: text.trim(), passphrase: passphrase ?? "" });
    const known = exported(key);
    return known === null ? { ok: false, problem: "format" } : { ok: true, text: known };
  } catch {
    return { ok: false, problem: isEncrypted ? "wrong passphrase" : "format" };
  }
}

function exported(key: KeyObject): string | null {
  switch (key.asymmetricKeyType) {
    case "rsa":
      return key.export({ type: "pkcs1", format: "pem" }).toString();
    case "ec":
      return key.export({ type: "sec1", format: "pem" }).toString();
    case "ed25519":
      return openSshEd25519(key);
    default:
      return null;
  }
}

/** Source: OpenSSH's PROTOCOL.key, with cipher and kdf "none". */
function openSshEd25519(key: KeyObject): string | null {
  const { d, x } = key.export({ format: "jwk" });
  if (d === undefined || x === undefined) return null;
  const open = Buffer.from(x, "base64url");
  const type = field(Buffer.from("ssh-ed25519"));
  const publicPart = Buffer.concat([type, field(open)]);
  const secret = field(Buffer.concat([Buffer.from(d, "base64url"), open]));
  // Two equal numbers, which tell a right passphrase from a wrong one; then key, comment, and 1, 2, 3... up to a whole block of 8.
  const privatePart = Buffer.concat([Buffer.alloc(8), publicPart, secret, field(Buffer.alloc(0))]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (privatePart.length % 8)) % 8));
  const blob = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    field(Buffer.from("none")),
    field(Buffer.from("none")),
    field(Buffer.alloc(0)),
    Buffer.from([0, 0, 0, 1]),
    field(publicPart),
    field(Buffer.concat([privatePart, padding])),
  ]);
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${blob.toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
