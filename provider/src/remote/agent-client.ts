import type { z } from "zod";
import { VllmServerError } from "../core/errors";
import type { Observation } from "../core/observed";
import type { Transport } from "../ssh/transport";
import { callAgent } from "./agent-call";
import type { HostAgent } from "./host-agent";
import { ObserveBatch, type IndexedObservation } from "./observe-batch";
import {
  applyResultSchema,
  flagsResultSchema,
  observeResultSchema,
  PROTOCOL_VERSION,
  type AgentEvent,
  type AgentRequest,
  type ApplyRequest,
  type ApplyResult,
  type FlagsResult,
  type ServerQuery,
} from "./protocol";

/** Looking can mean a slow login shell, nvidia-smi, and `vllm --version` for each executable. */
const OBSERVE_SECONDS = 180;
/** Asking vLLM for its flags takes 14 s on an idle machine; loading it from a cold network disk takes minutes. */
const FLAGS_SECONDS = 300;

export interface AgentClientOptions {
  /** For messages: user@host. */
  readonly hostLabel: string;
  readonly python: string | null;
  /** Runs one call over a connection that is open while it runs. */
  readonly withTransport: <T>(run: (transport: Transport) => Promise<T>) => Promise<T>;
}

/** HostAgent over SSH: each call is one exec of the agent. */
export class AgentClient implements HostAgent {
  readonly #options: AgentClientOptions;
  readonly #batch = new ObserveBatch((take) => this.#look(take));

  constructor(options: AgentClientOptions) {
    this.#options = options;
  }

  observe(query: ServerQuery): Promise<IndexedObservation> {
    return this.#batch.observe(query);
  }

  apply(
    request: Omit<ApplyRequest, "op">,
    deadlineSeconds: number,
    onEvent: (event: AgentEvent) => void,
  ): Promise<ApplyResult> {
    return this.#call(
      () => ({ op: "apply", ...request, protocol: PROTOCOL_VERSION, deadlineSeconds }),
      applyResultSchema,
      onEvent,
    );
  }

  flags(executable: string, environment: Readonly<Record<string, string>> = {}): Promise<FlagsResult> {
    return this.#call(
      () => ({
        op: "flags",
        executable,
        environment,
        protocol: PROTOCOL_VERSION,
        deadlineSeconds: FLAGS_SECONDS,
      }),
      flagsResultSchema,
    );
  }

  /** The queries are taken when there is a connection to send them over. */
  async #look(take: () => readonly ServerQuery[]): Promise<Observation> {
    const request = (): AgentRequest => ({
      op: "observe",
      servers: take(),
      protocol: PROTOCOL_VERSION,
      deadlineSeconds: OBSERVE_SECONDS,
    });
    const observation = await this.#call(request, observeResultSchema);
    const [seen, asked] = [observation.servers.length, take().length];
    if (seen === asked) return observation;
    throw new VllmServerError({
      code: "AGENT_REPLY_BROKEN",
      summary: `Cannot read the agent's reply from ${this.#options.hostLabel}: it tells of ${String(seen)} servers, need ${String(asked)}`,
      change: "run it again",
      retryable: true,
    });
  }

  #call<T>(
    request: () => AgentRequest,
    resultSchema: z.ZodType<T>,
    onEvent: (event: AgentEvent) => void = () => undefined,
  ): Promise<T> {
    const { hostLabel, python } = this.#options;
    return this.#options.withTransport((transport) =>
      callAgent(transport, { request: request(), resultSchema, onEvent, python, hostLabel }),
    );
  }
}
