import { createHmac } from "node:crypto";

/** By name: HMAC-SHA256, hex, of a secret. */
export type SecretHashes = Readonly<Record<string, string>>;

/**
 * Keyed with the salt (hex), of each secret in its canonical form. The agent answers the same of what a server was started with
 * (agent/secret_hash.py), so that the two can be compared without either being told.
 */
export function secretHashes(secrets: Readonly<Record<string, string>>, salt: string): SecretHashes {
  const key = Buffer.from(salt, "hex");
  const hash = (name: string, value: string): string =>
    createHmac("sha256", key)
      .update(canonical({ [name]: value }), "latin1")
      .digest("hex");
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, hash(name, value)]));
}

/** Names of the secrets that are not the same on both sides, or that only one of them has. */
export function differingSecrets(one: SecretHashes, other: SecretHashes): readonly string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => one[name] !== other[name]).sort();
}

/** As Python's json.dumps with sort_keys writes it: ASCII, names by code point, a space after each comma and colon. */
export function canonical(secrets: Readonly<Record<string, string>>): string {
  const entries = Object.entries(secrets).sort(([one], [other]) => byCodePoint(one, other));
  return `{${entries.map(([name, value]) => `${ascii(name)}: ${ascii(value)}`).join(", ")}}`;
}

/** JavaScript itself compares halves of surrogate pairs, and would put U+1F600 before U+FF21. */
function byCodePoint(one: string, other: string): number {
  const [first, second] = [Array.from(one, codePoint), Array.from(other, codePoint)];
  for (const [index, left] of first.entries()) {
    const right = second[index];
    if (right === undefined) return 1;
    if (left !== right) return left - right;
  }
  return first.length - second.length;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function ascii(text: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // Without the u flag: each half of a surrogate pair is escaped by itself.
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escaped);
}
