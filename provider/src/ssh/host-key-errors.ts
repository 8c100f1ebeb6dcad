import { VllmServerError } from "../core/errors";
import { withState, type KnownKey } from "./known-hosts";
import { fingerprint, keyType } from "./public-key";
import { quoteAll } from "./quote";
import type { Target } from "./target";

/** The four ways a host key is refused. None is ever retried, and each names the command that settles it. */

export function unknownKey(target: Target, key: Buffer, known: readonly KnownKey[]): VllmServerError {
  const others = known.filter((one) => one.kind === "known").map((one) => `${one.type} (${placeOf(one)})`);
  const notes = [
    others.length > 0
      ? `known of this host: ${others.join(", ")}`
      : `looked in ${target.hostKeys.knownHostsFiles.map(withState).join(", ")}`,
    ...(known.some((one) => one.kind === "cert-authority") ? ["@cert-authority lines are not used"] : []),
    ...(target.hostKeys.ignoredStrictness === null
      ? []
      : [
          `StrictHostKeyChecking ${target.hostKeys.ignoredStrictness} is not followed: unknown keys are never taken unseen`,
        ]),
  ];
  return new VllmServerError({
    code: "HOST_KEY_UNKNOWN",
    summary: `Cannot trust host ${label(target)}: its ${described(key)} is not known, need a known or pinned host key`,
    evidence: notes.join("; "),
    change: `compare the fingerprint with the host's own, then ${acceptCommands(target, key).join(", or ")}`,
    path: "host.hostKey",
    retryable: false,
  });
}

export function changedKey(target: Target, name: string, old: KnownKey, key: Buffer): VllmServerError {
  const remove = quotedCommand(["ssh-keygen", "-R", name, "-f", old.file]);
  return new VllmServerError({
    code: "HOST_KEY_CHANGED",
    summary: `Cannot trust host ${label(target)}: it shows ${described(key)}, need the known ${old.type} key ${fingerprint(old.key)}`,
    evidence: `${old.type} ${fingerprint(old.key)}`,
    evidencePlace: placeOf(old),
    change: `if the machine was set up anew: ${remove}, then accept the new key; if not, somebody may be in between`,
    path: "host.hostKey",
    retryable: false,
  });
}

export function changedPin(target: Target, pinned: string, key: Buffer): VllmServerError {
  return new VllmServerError({
    code: "HOST_KEY_CHANGED",
    summary: `Cannot trust host ${label(target)}: it shows ${described(key)}, need the pinned key ${pinned}`,
    evidence: pinned,
    evidencePlace: "host.hostKey",
    change: `if the machine was set up anew: hostKey: "${fingerprint(key)}"; if not, somebody may be in between`,
    path: "host.hostKey",
    retryable: false,
  });
}

export function revokedKey(target: Target, line: KnownKey, key: Buffer): VllmServerError {
  return new VllmServerError({
    code: "HOST_KEY_REVOKED",
    summary: `Cannot trust host ${label(target)}: its ${described(key)} is marked as revoked, need another host key on the host`,
    evidence: `@revoked ${line.type} ${fingerprint(line.key)}`,
    evidencePlace: placeOf(line),
    change: "give the host a new key, or remove the @revoked line if it stands there by mistake",
    path: "host.hostKey",
    retryable: false,
  });
}

function acceptCommands(target: Target, key: Buffer): readonly string[] {
  const pin = `set hostKey: "${fingerprint(key)}"`;
  const login = quotedCommand([
    "ssh",
    ...(target.port === 22 ? [] : ["-p", String(target.port)]),
    `${target.user}@${target.name}`,
  ]);
  const file = target.hostKeys.knownHostsFiles[0];
  // ssh-keyscan knows neither jump hosts nor aliases of host keys.
  if (file === undefined || target.jumps.length > 0 || target.hostKeys.alias !== null)
    return [`${login} once`, pin];
  const scan = quotedCommand([
    "ssh-keyscan",
    "-t",
    scanType(key),
    "-p",
    String(target.port),
    target.hostname,
  ]);
  return [`${scan} >> ${quotedCommand([file])}`, `${login} once`, pin];
}

function scanType(key: Buffer): string {
  return keyType(key)
    .replace(/^ssh-/, "")
    .replace(/^ecdsa-.*/, "ecdsa");
}

function quotedCommand(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : quoteAll([word]))).join(" ");
}

function described(key: Buffer): string {
  return `${keyType(key)} key ${fingerprint(key)}`;
}

function label(target: Target): string {
  const address = `${target.hostname}:${String(target.port)}`;
  return target.name === target.hostname ? address : `${target.name} (${address})`;
}

function placeOf(known: KnownKey): string {
  return `${known.file}:${String(known.line)}`;
}
