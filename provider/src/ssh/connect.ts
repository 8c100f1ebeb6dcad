import type { Readable } from "node:stream";
import type { Client } from "ssh2";
import { DialFailure, unreachable } from "./connection-failure";
import { dial } from "./dial";
import { withRetry } from "./retry";
import { Ssh2Transport, type Connection } from "./ssh2-transport";
import type { Target } from "./target";

export interface ConnectOptions {
  /** All tries and pauses together. */
  readonly connectSeconds: number;
}

/**
 * Connects and logs in, through the jump hosts if there are any, each with its own host key check. Connection errors are tried again.
 * Errors: HOST_UNREACHABLE, HOST_KEY_UNKNOWN, HOST_KEY_CHANGED, HOST_KEY_REVOKED, AUTHENTICATION_FAILED, INPUT_INVALID.
 */
export function connect(target: Target, options: ConnectOptions): Promise<Connection> {
  const label = `${target.user}@${target.hostname}:${String(target.port)}`;
  return withRetry(
    { tries: target.dialErrorLimit, seconds: options.connectSeconds },
    async (millisecondsLeft) => {
      const clients = await dialChain([...target.jumps, target], millisecondsLeft);
      const last = clients.at(-1);
      if (last === undefined) throw new DialFailure("there is no host to dial", false);
      return new Ssh2Transport(last, clients.slice(0, -1), label);
    },
    (failure, tries, seconds) => unreachable(target, failure, tries, seconds),
  );
}

async function dialChain(chain: readonly Target[], millisecondsLeft: number): Promise<readonly Client[]> {
  const end = performance.now() + millisecondsLeft;
  const clients: Client[] = [];
  try {
    for (const target of chain) {
      const through = clients.at(-1);
      clients.push(
        await dial(target, {
          openStream: through === undefined ? null : () => forward(through, target),
          timeoutMilliseconds: Math.min(dialMilliseconds(target), end - performance.now()),
        }),
      );
    }
    return clients;
  } catch (error) {
    for (const client of clients.reverse()) client.end();
    throw error;
  }
}

/** 0 is no limit of its own: all tries together have one anyway. */
function dialMilliseconds({ dialTimeoutSeconds }: Target): number {
  return dialTimeoutSeconds === 0 ? Infinity : dialTimeoutSeconds * 1000;
}

/** A channel of the jump host to the next one. */
function forward(client: Client, target: Target): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const give = (error: (Error & { reason?: unknown }) | undefined, stream: Readable): void => {
      if (error === undefined) resolve(stream);
      // 2 = SSH_OPEN_CONNECT_FAILED (RFC 4254, 5.1): the jump host could not reach it. Others, such as a forbidden forwarding, stay as they are.
      else
        reject(
          new DialFailure(
            `the jump host cannot reach it (${error.message})`,
            error.reason === 2 || error.reason === undefined,
          ),
        );
    };
    try {
      client.forwardOut("127.0.0.1", 0, target.hostname, target.port, give);
    } catch {
      reject(new DialFailure("the connection to the jump host ended", true));
    }
  });
}
