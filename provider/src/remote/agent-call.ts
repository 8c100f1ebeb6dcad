import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import type { ExecResult, Transport } from "../ssh/transport";
import { agentBundle } from "./agent-bundle";
import { AgentReply } from "./agent-reply";
import type { AgentEvent, AgentRequest } from "./protocol";
import { requestSecrets } from "./request-secrets";

/** How much longer than the agent itself this side waits for it. */
const GRACE_SECONDS = 15;
/** How long the channel may stay open after the last event. */
const CLOSING_MILLISECONDS = 2000;
const STDERR_LINES = 10;

export interface AgentCall<T> {
  readonly request: AgentRequest;
  readonly resultSchema: z.ZodType<T>;
  readonly onEvent: (event: AgentEvent) => void;
  /** Python on the host, null to look for one. */
  readonly python: string | null;
  readonly hostLabel: string;
}

/** One request, one exec. An outcome that has arrived counts, even if the connection breaks right after it. */
export async function callAgent<T>(transport: Transport, call: AgentCall<T>): Promise<T> {
  const bundle = await agentBundle();
  const reply = new AgentReply(call.hostLabel, requestSecrets(call.request), call.onEvent);
  const closed = reply.settled.then(() => delay(CLOSING_MILLISECONDS, null, { ref: false }));
  const running = transport.exec(bundle.command(call.python), {
    stdin: bundle.stdin(call.request),
    onStdout: (chunk) => {
      reply.feed(chunk);
    },
    deadlineSeconds: call.request.deadlineSeconds + GRACE_SECONDS,
    // What a start-up file left running in the background may hold the channel for ever.
    enough: closed,
  });
  // Whoever loses the race may still fail; nobody waits for it any more.
  running.catch(() => undefined);
  const ended = await Promise.race([running, closed]).catch((error: unknown) => {
    if (reply.isSettled) return null;
    throw error;
  });
  return reply.result(call.resultSchema, ended === null ? "" : endingOf(ended));
}

function endingOf(ended: ExecResult): string {
  const how =
    ended.signal === null
      ? `exit code ${ended.exitCode === null ? "unknown" : String(ended.exitCode)}`
      : `ended by ${ended.signal}`;
  const stderr = ended.stderr.trimEnd().split("\n").slice(-STDERR_LINES).join(" | ");
  return stderr === "" ? how : `${how}; stderr: ${stderr}`;
}
