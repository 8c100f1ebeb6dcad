import { VllmServerError } from "../core/errors";
import type { Target } from "./target";
import { findKnownKeys, knownHostsName, type KnownKey } from "./known-hosts";
import { changedKey, changedPin, revokedKey, unknownKey } from "./host-key-errors";
import { fingerprint, keyOfLine, keyType } from "./public-key";

/** What is known of a host's keys before it is dialled. */
export interface HostKeyCheck {
  /** Key types in the order to ask for: those that are known first, as OpenSSH does, so that a known key is never missed. */
  readonly preferredTypes: readonly string[];
  /** Whether only a fingerprint is known: then the type is not, and each type the host has must be looked at. */
  readonly isFingerprint: boolean;
  /** null: this key may be trusted. */
  judge(key: Buffer): VllmServerError | null;
}

/** Key types ssh2 can verify, strongest first; ssh-rsa stands for its SHA-2 signatures. */
const KEY_TYPES = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
];

/** Reads known_hosts now. Throws INPUT_INVALID for a pinned host key that is none. */
export function hostKeyCheck(target: Target): HostKeyCheck {
  const { pinned, alias, knownHostsFiles } = target.hostKeys;
  const name = alias ?? knownHostsName(target.hostname, target.port);
  const own = findKnownKeys(knownHostsFiles, name.toLowerCase());
  // OpenSSH trusts a key under the plain name for another port too, but takes no offence there.
  const plain =
    alias === null && target.port !== 22 ? findKnownKeys(knownHostsFiles, target.hostname.toLowerCase()) : [];
  const revoked = [...own, ...plain].filter((known) => known.kind === "revoked");

  if (pinned !== null) {
    const pin = readPin(pinned, target);
    return {
      preferredTypes: pin.type === null ? KEY_TYPES : [pin.type],
      isFingerprint: pin.type === null,
      judge: (key) =>
        revokedBy(revoked, key, target) ??
        (pin.fingerprint === fingerprint(key) ? null : changedPin(target, pin.fingerprint, key)),
    };
  }
  const known = [...own, ...plain].filter((one) => one.kind === "known");
  const knownTypes = KEY_TYPES.filter((type) => known.some((one) => one.type === type));
  return {
    preferredTypes: [...knownTypes, ...KEY_TYPES.filter((type) => !knownTypes.includes(type))],
    isFingerprint: false,
    judge: (key) => {
      const refusal = revokedBy(revoked, key, target);
      if (refusal !== null) return refusal;
      if (known.some((one) => one.key.equals(key))) return null;
      const old = own.find((one) => one.kind === "known" && one.type === keyType(key));
      return old === undefined
        ? unknownKey(target, key, [...own, ...plain])
        : changedKey(target, name, old, key);
    },
  };
}

function revokedBy(revoked: readonly KnownKey[], key: Buffer, target: Target): VllmServerError | null {
  const line = revoked.find((one) => one.key.equals(key));
  return line === undefined ? null : revokedKey(target, line, key);
}

function readPin(
  text: string,
  target: Target,
): { readonly type: string | null; readonly fingerprint: string } {
  const trimmed = text.trim();
  if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(trimmed))
    return { type: null, fingerprint: trimmed.replace(/=$/, "") };
  const key = keyOfLine(trimmed);
  if (key !== null && KEY_TYPES.includes(keyType(key)))
    return { type: keyType(key), fingerprint: fingerprint(key) };
  throw new VllmServerError({
    code: "INPUT_INVALID",
    summary: `Cannot check the host key of ${target.name}: hostKey is no public key, need "ssh-ed25519 AAAA..." or "SHA256:..."`,
    path: "host.hostKey",
    retryable: false,
  });
}
