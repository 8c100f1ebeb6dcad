import type { Readable } from "node:stream";
import { Client, type ServerHostKeyAlgorithm } from "ssh2";
import type { VllmServerError } from "../core/errors";
import { DialFailure, dialFailure } from "./connection-failure";
import { hostKeyCheck } from "./host-key-check";
import { Login } from "./login";
import { loginWays } from "./login-ways";
import { keyType } from "./public-key";
import type { Target } from "./target";

const KEEPALIVE_MILLISECONDS = 15_000;
const KEEPALIVE_COUNT = 3;

export interface DialOptions {
  /** null: TCP to hostname and port; else a channel of the jump host, one for each call, in the time given or DialFailure. */
  readonly openStream: ((milliseconds: number) => Promise<Readable>) | null;
  /** Bounds everything together: TCP or the jump host's channel, key exchange and login. */
  readonly timeoutMilliseconds: number;
}

/**
 * One try: connects, checks the host key, logs in. Rejects with VllmServerError (host key, login: never worth a retry) or DialFailure.
 * With a pinned fingerprint the type of the key is not known, so each type the host has is looked at, one connection each.
 */
export async function dial(target: Target, options: DialOptions): Promise<Client> {
  const end = performance.now() + options.timeoutMilliseconds;
  const millisecondsLeft = (): number => Math.max(1, end - performance.now());
  const check = hostKeyCheck(target);
  const ways = await loginWays(target);
  let types = check.preferredTypes;
  let refusal: VllmServerError | null = null;
  for (;;) {
    const seen: { key: Buffer | null; refusal: VllmServerError | null } = { key: null, refusal: null };
    const verify = (key: Buffer): boolean => {
      seen.key = key;
      seen.refusal = check.judge(key);
      return seen.refusal === null;
    };
    try {
      const stream = options.openStream === null ? null : await options.openStream(millisecondsLeft());
      return await attempt(target, stream, types, verify, new Login(target, ways), millisecondsLeft());
    } catch (error) {
      // "No matching host key format": the types that are left are not there, so the refusal so far stands.
      if (refusal !== null && seen.key === null) throw refusal;
      if (seen.refusal === null || seen.key === null) throw error;
      const tried = keyType(seen.key);
      refusal ??= seen.refusal;
      types = types.filter((type) => type !== tried);
      if (!check.isFingerprint || seen.refusal.code !== "HOST_KEY_CHANGED" || types.length === 0)
        throw seen.refusal;
    }
  }
}

function attempt(
  target: Target,
  stream: Readable | null,
  types: readonly string[],
  verify: (key: Buffer) => boolean,
  login: Login,
  timeoutMilliseconds: number,
): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new Client();
    let hasGreeted = false;
    const fail = (error: Error): void => {
      reject(error);
      client.destroy();
    };
    // Nagle's algorithm would hold small packets back for 40 ms.
    client.once("connect", () => client.setNoDelay(true));
    client.once("handshake", () => (hasGreeted = true));
    client.once("ready", () => {
      resolve(client);
    });
    client.on("change password", () => {
      login.note("the host wants a new password first");
      fail(login.refusal(null));
    });
    // Stays for as long as the client lives: an error without a listener would end the whole process.
    client.on("error", (error: Error & { level?: string; code?: unknown }) => {
      if (error.level === "agent" || (error.level === "client-authentication" && !login.isExhausted))
        login.note(error.message);
      else if (login.isExhausted) fail(login.refusal(null));
      // Numbers are reasons of SSH's own goodbye, such as "Too many authentication failures".
      else if (hasGreeted && typeof error.code === "number")
        fail(login.refusal(`the host ended the login (${oneLine(error.message)})`));
      else fail(dialFailure(error, hasGreeted));
    });
    client.once("close", () => {
      fail(
        new DialFailure(
          hasGreeted ? "the connection ended during login" : "the connection ended before SSH began",
          true,
        ),
      );
    });
    client.connect({
      host: target.hostname,
      port: target.port,
      username: target.user,
      ...(stream === null ? {} : { sock: stream }),
      algorithms: { serverHostKey: types.flatMap(algorithmsOf) },
      hostVerifier: verify,
      authHandler: login.next,
      readyTimeout: timeoutMilliseconds,
      keepaliveInterval: KEEPALIVE_MILLISECONDS,
      keepaliveCountMax: KEEPALIVE_COUNT,
    });
  });
}

/** Signatures a key type can make; SHA-1 ones are left out, as OpenSSH does since 8.8. */
function algorithmsOf(type: string): readonly ServerHostKeyAlgorithm[] {
  switch (type) {
    case "ssh-rsa":
      return ["rsa-sha2-512", "rsa-sha2-256"];
    case "ssh-ed25519":
    case "ecdsa-sha2-nistp256":
    case "ecdsa-sha2-nistp384":
    case "ecdsa-sha2-nistp521":
      return [type];
    default:
      return [];
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 200);
}
