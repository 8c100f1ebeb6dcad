import type { z } from "zod";
import { isErrorCode, VllmServerError } from "../core/errors";
import { LineReader } from "./line-reader";
import { agentEventSchema, PROTOCOL_VERSION, type AgentEvent } from "./protocol";
import { withoutSecrets } from "./request-secrets";

const KEPT_LINES = 10;
const KEPT_CHARACTERS = 300;

type Outcome =
  { readonly kind: "result"; readonly result: unknown } | { readonly kind: "failure"; readonly error: Error };

/**
 * Reads one reply: events, then one result or error. What a login shell prints around them (a motd, a profile's echo, what a profile
 * left running in the background) is let pass and kept for the error. A line that begins as an event and is none breaks the reply.
 */
export class AgentReply {
  readonly #hostLabel: string;
  readonly #secrets: readonly string[];
  readonly #onEvent: (event: AgentEvent) => void;
  readonly #lines = new LineReader((line) => {
    this.#take(line);
  });
  readonly #lastLines: string[] = [];
  #hasBegun = false;
  #outcome: Outcome | null = null;
  #settle: () => void = () => undefined;
  /** Resolves with the last event, which may come before the channel closes. */
  readonly settled = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(hostLabel: string, secrets: readonly string[], onEvent: (event: AgentEvent) => void) {
    this.#hostLabel = hostLabel;
    this.#secrets = secrets;
    this.#onEvent = onEvent;
  }

  get isSettled(): boolean {
    return this.#outcome !== null;
  }

  /** Never throws: what goes wrong is the outcome. */
  feed(chunk: Buffer): void {
    if (this.#outcome !== null) return;
    try {
      this.#lines.feed(chunk);
    } catch (error) {
      this.#end({
        kind: "failure",
        error: error instanceof RangeError ? this.#broken(error.message, "") : asError(error),
      });
    }
  }

  /** The result, or the error the agent sent, or AGENT_REPLY_BROKEN. `ending` tells how the command ended. */
  result<T>(schema: z.ZodType<T>, ending: string): T {
    if (this.#outcome === null) this.#endOfInput();
    if (this.#outcome === null)
      throw this.#hasBegun ? this.#broken("it ended without a result", ending) : this.#notBegun(ending);
    if (this.#outcome.kind === "failure") throw this.#outcome.error;
    const parsed = schema.safeParse(this.#outcome.result);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw this.#broken(
      `its result has another shape (${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? ""})`,
      ending,
    );
  }

  #endOfInput(): void {
    try {
      this.#lines.end();
    } catch (error) {
      this.#end({ kind: "failure", error: asError(error) });
    }
  }

  #take(line: string): void {
    if (this.#outcome !== null) return;
    // A motd without a line break at its end stands on the same line as the event after it.
    const from = line.indexOf('{"event"');
    const event = parseEvent(from === -1 ? line : line.slice(from));
    if (event === null) {
      // Cleaned first: a secret that is cut in two would no longer be known.
      this.#lastLines.push(this.#clean(line).slice(0, KEPT_CHARACTERS));
      if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift();
      if (this.#hasBegun && from !== -1)
        this.#end({ kind: "failure", error: this.#broken("it holds an event that makes no sense", "") });
      return;
    }
    this.#hasBegun = true;
    this.#onEvent(event);
    if (event.event === "hello" && event.protocol !== PROTOCOL_VERSION) {
      this.#end({
        kind: "failure",
        error: this.#broken(
          `it speaks protocol ${String(event.protocol)} and not ${String(PROTOCOL_VERSION)}`,
          "",
        ),
      });
    } else if (event.event === "result") this.#end({ kind: "result", result: event.result });
    else if (event.event === "error") this.#end({ kind: "failure", error: this.#told(event.error) });
  }

  #told(error: Extract<AgentEvent, { event: "error" }>["error"]): VllmServerError {
    return new VllmServerError({
      code: isErrorCode(error.code) ? error.code : "AGENT_CRASHED",
      summary: this.#clean(error.summary),
      evidence: typeof error.evidence === "string" ? this.#clean(error.evidence) : undefined,
      change: typeof error.change === "string" ? this.#clean(error.change) : undefined,
      retryable: error.retryable,
    });
  }

  #broken(found: string, ending: string): VllmServerError {
    return new VllmServerError({
      code: "AGENT_REPLY_BROKEN",
      summary: `Cannot read the agent's reply from ${this.#hostLabel}: ${this.#clean(found)}, need a whole one`,
      evidence: this.#evidence(ending),
      change: "run it again: what was done stays, and the next run goes on from there",
      retryable: true,
    });
  }

  /** nologin, a ForceCommand, a start-up file that ends the shell. */
  #notBegun(ending: string): VllmServerError {
    return new VllmServerError({
      code: "AGENT_REPLY_BROKEN",
      summary: `Cannot run the agent on ${this.#hostLabel}: the login shell ended without starting it, need an account that may run commands over SSH`,
      evidence: this.#evidence(ending),
      change: "host.user, or on the host this account's shell, its start-up files or a ForceCommand of sshd",
      retryable: true,
    });
  }

  #evidence(ending: string): string | undefined {
    const lines = this.#lastLines.length === 0 ? [] : [`last lines: ${this.#lastLines.join(" | ")}`];
    const parts = [...lines, ...(ending === "" ? [] : [ending])];
    return parts.length === 0 ? undefined : this.#clean(parts.join("; "));
  }

  #clean(text: string): string {
    return withoutSecrets(text, this.#secrets);
  }

  #end(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#settle();
  }
}

function parseEvent(line: string): AgentEvent | null {
  try {
    const parsed = agentEventSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
