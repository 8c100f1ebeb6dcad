import type { AuthenticationType, AuthHandlerMiddleware } from "ssh2";
import { VllmServerError } from "../core/errors";
import type { LoginWay, LoginWays } from "./login-ways";
import type { Target } from "./target";

/** One login: hands the ways to ssh2 one after the other and keeps what came of each. */
export class Login {
  readonly #target: Target;
  readonly #untried: LoginWay[];
  readonly #notes: string[];
  #current: LoginWay | null = null;
  #isPartial = false;
  #accepted: readonly AuthenticationType[] = [];
  /** Whether there was nothing left to try. */
  isExhausted = false;

  constructor(target: Target, { ways, notes }: LoginWays) {
    this.#target = target;
    this.#untried = [...ways];
    this.#notes = [...notes];
  }

  /** For ssh2's `authHandler`: asks with "none" first, as ssh does, so that only what the server wants is tried. */
  readonly next: AuthHandlerMiddleware = (
    methodsLeft: readonly AuthenticationType[] | null,
    partialSuccess,
    proceed,
  ) => {
    if (methodsLeft === null) {
      proceed({ type: "none", username: this.#target.user });
      return;
    }
    this.#accepted = methodsLeft;
    if (this.#current !== null)
      this.#notes.push(
        `${this.#current.label}: ${partialSuccess ? "accepted, but the host wants more" : "refused"}`,
      );
    this.#isPartial ||= partialSuccess;
    const index = this.#untried.findIndex((way) => methodsLeft.includes(way.method));
    this.#current = index === -1 ? null : (this.#untried.splice(index, 1)[0] ?? null);
    if (this.#current !== null) {
      proceed(this.#current.auth);
      return;
    }
    this.isExhausted = true;
    // ssh2 takes `false` for "nothing left"; its types know only methods.
    Reflect.apply(proceed, undefined, [false]);
  };

  /** Something that happened to the way that is being tried. */
  note(text: string): void {
    this.#notes.push(`${this.#current?.label ?? "login"}: ${text}`);
  }

  /** The error that lists every way and what came of it. */
  refusal(reason: string | null): VllmServerError {
    const where = `${this.#target.user}@${this.#target.hostname}:${String(this.#target.port)}`;
    const cut =
      reason === null || this.#current === null
        ? []
        : [`${this.#current.label}: the host ended the login here`];
    const left = this.#untried.map(
      ({ label, method }) =>
        `${label}: ${this.#accepted.includes(method) ? "not tried" : "not asked for by the host"}`,
    );
    const wants = this.#accepted.length > 0 ? [`the host takes: ${this.#accepted.join(", ")}`] : [];
    const found =
      reason ??
      (this.#isPartial ? "the host wants more than one proof" : "no way to prove who we are was accepted");
    return new VllmServerError({
      code: "AUTHENTICATION_FAILED",
      summary: `Cannot log in to ${where}: ${found}, need a key or password that the host accepts`,
      evidence: [...this.#notes, ...cut, ...left, ...wants].join("; "),
      change:
        cut.length > 0 && left.length > 0
          ? "name the one key that fits: host.privateKey, or IdentityFile and IdentitiesOnly in the SSH configuration"
          : `host.privateKey, host.password or host.agentSocketPath; or add one of these keys to ~/.ssh/authorized_keys of ${this.#target.user} there`,
      path: "host",
      retryable: false,
    });
  }
}
