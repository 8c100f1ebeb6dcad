import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { matchesPatternList } from "./pattern";
import { keyOfLine, keyType } from "./public-key";

/** A line of a known_hosts file that is about the host asked for. Source: sshd(8), SSH_KNOWN_HOSTS FILE FORMAT. */
export interface KnownKey {
  readonly kind: "known" | "revoked" | "cert-authority";
  readonly type: string;
  readonly key: Buffer;
  readonly file: string;
  readonly line: number;
}

/** "[host]:port" for any port but 22, as OpenSSH writes it. */
export function knownHostsName(hostname: string, port: number): string {
  const host = hostname.toLowerCase();
  return port === 22 ? host : `[${host}]:${String(port)}`;
}

/** Every line about `name` in these files, in order. Files that are missing are empty; lines that make no sense are skipped, as ssh does. */
export function findKnownKeys(files: readonly string[], name: string): readonly KnownKey[] {
  return files.flatMap((file) =>
    readLines(file).flatMap((text, index) => {
      const found = parseLine(text, name);
      return found === null ? [] : [{ ...found, file, line: index + 1 }];
    }),
  );
}

function parseLine(text: string, name: string): Pick<KnownKey, "kind" | "type" | "key"> | null {
  const line = text.trim();
  if (line === "" || line.startsWith("#")) return null;
  const [first = "", ...others] = line.split(/\s+/);
  const marker = first.startsWith("@") ? first : null;
  const hosts = marker === null ? first : (others[0] ?? "");
  if (!namesHost(hosts, name)) return null;
  const key = keyOfLine((marker === null ? others : others.slice(1)).join(" "));
  if (key === null) return null;
  const base = { type: keyType(key), key };
  if (marker === null) return { kind: "known", ...base };
  if (marker === "@revoked") return { kind: "revoked", ...base };
  return marker === "@cert-authority" ? { kind: "cert-authority", ...base } : null;
}

function namesHost(hosts: string, name: string): boolean {
  return hosts.startsWith("|")
    ? isHashOf(hosts, name)
    : matchesPatternList(hosts.toLowerCase().split(","), name);
}

/** |1|salt|HMAC-SHA1 of the name|, both base64 (HashKnownHosts). */
function isHashOf(hosts: string, name: string): boolean {
  const [, version, salt, hash] = hosts.split("|");
  if (version !== "1" || salt === undefined || hash === undefined) return false;
  const wanted = Buffer.from(hash, "base64");
  const own = createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest();
  return wanted.length === own.length && timingSafeEqual(wanted, own);
}

function readLines(file: string): readonly string[] {
  const read = readFile(file);
  return typeof read === "string" ? read.split(/\r?\n/) : [];
}

/** The file's path, and in brackets why nothing could be read there, if so. */
export function withState(file: string): string {
  const read = readFile(file);
  if (typeof read === "string") return file;
  return `${file} (${read.code === "ENOENT" ? "not there" : `cannot be read: ${read.code}`})`;
}

function readFile(file: string): string | { readonly code: string } {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return { code: error instanceof Error && "code" in error ? String(error.code) : "unknown" };
  }
}
