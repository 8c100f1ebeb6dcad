import { createHash } from "node:crypto";

/** "SHA256:..." as `ssh-keygen -lf` prints it. `key` is the binary public key. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** "ssh-ed25519" and so on: the first field of a binary public key; "unknown" when it has none. */
export function keyType(key: Buffer): string {
  const length = key.length < 4 ? 0 : key.readUInt32BE(0);
  return length > 0 && length <= 64 && key.length >= 4 + length
    ? key.toString("latin1", 4, 4 + length)
    : "unknown";
}

/** The binary key inside a line such as "ssh-ed25519 AAAA... comment" or "host ssh-rsa AAAA..."; null: there is none. */
export function keyOfLine(line: string): Buffer | null {
  const words = line.trim().split(/\s+/);
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (next === undefined) continue;
    const key = Buffer.from(next, "base64");
    if (keyType(key) === word) return key;
  }
  return null;
}
