import type { z } from "zod";
import type { HostSpec } from "../core/spec";
import { callAgent } from "../remote/agent-call";
import { type AgentEvent, type AgentRequest, PROTOCOL_VERSION } from "../remote/protocol";
import { connect } from "../ssh/connect";
import { hostIdentity } from "../ssh/host-identity";
import { resolveTarget } from "../ssh/resolve-target";

const CONNECT_SECONDS = 30;

type Operation = AgentRequest extends infer Request
  ? Request extends AgentRequest
    ? Omit<Request, "protocol" | "deadlineSeconds">
    : never
  : never;

export interface HostCall<T> {
  readonly operation: Operation;
  readonly resultSchema: z.ZodType<T>;
  readonly deadlineSeconds: number;
  readonly onEvent?: (event: AgentEvent) => void;
  /** Ends the connection, and so what runs on the host for it. */
  readonly signal?: AbortSignal;
}

/** One connection and one command for it, as `pulumi up` makes them. Fails as they do, with CONNECTION_LOST when it is told to end. */
export async function callHost<T>(host: HostSpec, call: HostCall<T>): Promise<T> {
  const { operation, resultSchema, deadlineSeconds, onEvent = () => undefined, signal } = call;
  const transport = await connect(await resolveTarget(host), { connectSeconds: CONNECT_SECONDS });
  const close = (): void => {
    transport.close();
  };
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted === true) close();
  try {
    const request = { ...operation, protocol: PROTOCOL_VERSION, deadlineSeconds } satisfies AgentRequest;
    return await callAgent(transport, {
      request,
      resultSchema,
      onEvent,
      python: host.python,
      hostLabel: hostIdentity(host),
    });
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}
