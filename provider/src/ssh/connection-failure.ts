import { countedText } from "../core/amount-text";
import { VllmServerError } from "../core/errors";
import type { Target } from "./target";

/** A failed try to connect, and whether another try can go better. */
export class DialFailure extends Error {
  readonly isTemporary: boolean;
  /** No machine answered at all. false: something did, or it is the network of this machine that does not work. */
  readonly isSilence: boolean;

  constructor(message: string, isTemporary: boolean, isSilence = false) {
    super(message);
    this.name = "DialFailure";
    this.isTemporary = isTemporary;
    this.isSilence = isSilence;
  }
}

/** What each system error means. Source: connect(2), getaddrinfo(3); [words, worth another try, no machine answers]. */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [string, boolean, boolean]>> = {
  ECONNREFUSED: ["connection refused: nothing listens on the port", true, true],
  ECONNRESET: ["connection reset", true, false],
  EPIPE: ["connection reset", true, false],
  ETIMEDOUT: ["no answer", true, true],
  EHOSTUNREACH: ["no route to the host", true, true],
  ENETUNREACH: ["no route to the network", true, false],
  EHOSTDOWN: ["the host is down", true, true],
  EAI_AGAIN: ["the name cannot be looked up right now", true, false],
  ENOTFOUND: ["there is no such host name", false, true],
  EACCES: ["a firewall here forbids it", false, false],
};

/** From what ssh2's client (1.17, lib/client.js) emitted before the login was done. */
export function dialFailure(
  error: Error & { readonly level?: string | undefined; readonly code?: unknown },
  hasGreeted = false,
): DialFailure {
  const known = typeof error.code === "string" ? SYSTEM_ERRORS[error.code] : undefined;
  if (known !== undefined) return new DialFailure(...known);
  if (error.level === "client-timeout")
    return new DialFailure("no answer within the time for one try", true, !hasGreeted);
  if (error.level === "protocol") return new DialFailure("the connection ended before SSH began", true);
  if (error.level === "handshake")
    return new DialFailure(`no common ground for SSH: ${error.message}`, false);
  return new DialFailure(error.message, error.level === "client-socket");
}

/** The last failure as the user sees it. */
export function unreachable(
  target: Target,
  failure: DialFailure,
  tries: number,
  seconds: number,
): VllmServerError {
  const through =
    target.jumps.length === 0 ? "" : ` through ${target.jumps.map((jump) => jump.name).join(", ")}`;
  return new VllmServerError({
    code: "HOST_UNREACHABLE",
    summary: `Cannot connect to ${target.hostname}:${String(target.port)}${through}: ${failure.message}, need an SSH server that answers`,
    evidence: `${countedText(tries, "try", "tries")} in ${seconds.toFixed(1)} s`,
    change: "host, host.port or host.proxy; more patience: host.dialErrorLimit, timeouts.connect",
    path: "host",
    retryable: failure.isTemporary,
    isSilence: failure.isSilence,
    cause: failure,
  });
}
