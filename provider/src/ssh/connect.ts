import type { Readable } from "node:stream";
import type { Client } from "ssh2";
import { DialFailure, unreachable } from "./connection-failure";
import { dial } from "./dial";
import { hangUp } from "./hang-up";
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
          openStream: through === undefined ? null : (milliseconds) => forward(through, target, milliseconds),
          timeoutMilliseconds: Math.min(dialMilliseconds(target), end - performance.now()),
        }),
      );
    }
    return clients;
  } catch (error) {
    for (const client of [...clients].reverse()) hangUp(client);
    const jump = chain[clients.length];
    throw error instanceof DialFailure && jump !== undefined && clients.length < chain.length - 1
      ? atJumpHost(jump, error)
      : error;
  }
}

/** 0 is no limit of its own: all tries together have one anyway. */
function dialMilliseconds({ dialTimeoutSeconds }: Target): number {
  return dialTimeoutSeconds === 0 ? Infinity : dialTimeoutSeconds * 1000;
}

/** Said of the host at the end of the chain, it would blame the wrong machine. */
function atJumpHost(jump: Target, failure: DialFailure): DialFailure {
  const where = `${jump.hostname}:${String(jump.port)}`;
  const { message, isTemporary, isSilence } = failure;
  return new DialFailure(`its jump host ${where} is out of reach: ${message}`, isTemporary, isSilence);
}

/** A channel of the jump host to the next one. */
function forward(client: Client, target: Target, milliseconds: number): Promise<Readable> {
  return new Promise((resolve, reject) => {
    // A jump host waits for minutes where nothing answers.
    const timer = setTimeout(() => {
      reject(new DialFailure("the jump host has no answer from it within the time for one try", true, true));
    }, milliseconds);
    const give = (error: (Error & { reason?: unknown }) | undefined, stream: Readable): void => {
      clearTimeout(timer);
      if (error === undefined) resolve(stream);
      else reject(forwardFailure(error));
    };
    try {
      client.forwardOut("127.0.0.1", 0, target.hostname, target.port, give);
    } catch {
      clearTimeout(timer);
      reject(new DialFailure("the connection to the jump host ended", true));
    }
  });
}

/** Reasons: RFC 4254, 5.1. 1 = administratively prohibited; 2 = connect failed, which can go better another time, as can an ended connection. */
function forwardFailure(error: Error & { reason?: unknown }): DialFailure {
  if (error.reason === 1)
    return new DialFailure(
      "the jump host does not allow it (AllowTcpForwarding or PermitOpen in its sshd_config)",
      false,
    );
  const found = error.message.replace(/^\(SSH\) Channel open failure: /, "");
  return new DialFailure(
    `the jump host cannot reach it (${found})`,
    error.reason === 2 || error.reason === undefined,
    error.reason === 2,
  );
}
