import { randomBytes } from "node:crypto";
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
  type OthersWish,
  type ServerQuery,
} from "./protocol";
import type { SharedSight } from "./shared-sight";

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
  /** Of the last look for a refresh. */
  readonly sight: SharedSight;
}

/** HostAgent over SSH: each call is one exec of the agent. */
export class AgentClient implements HostAgent {
  readonly #options: AgentClientOptions;
  readonly #batch = new ObserveBatch((take) => this.#look(take));
  // However many they are: those left over would be looked at a second time.
  readonly #refreshes = new ObserveBatch((take) => this.#lookAtAll(take), Infinity);

  constructor(options: AgentClientOptions) {
    this.#options = options;
  }

  observe(query: ServerQuery): Promise<IndexedObservation> {
    return this.#batch.observe(query);
  }

  async refresh(query: ServerQuery): Promise<IndexedObservation> {
    return (await this.#options.sight.answer(query)) ?? (await this.#refreshes.observe(query));
  }

  async apply(
    request: Omit<ApplyRequest, "op">,
    deadlineSeconds: number,
    onEvent: (event: AgentEvent) => void,
  ): Promise<ApplyResult> {
    const { sight } = this.#options;
    sight.changing();
    try {
      return await this.#call(
        () => ({ op: "apply", ...request, protocol: PROTOCOL_VERSION, deadlineSeconds }),
        applyResultSchema,
        onEvent,
      );
    } finally {
      sight.changing();
    }
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
  async #look(
    take: () => readonly ServerQuery[],
    onTaken: () => OthersWish | undefined = () => undefined,
  ): Promise<z.infer<typeof observeResultSchema>> {
    const request = (): AgentRequest => {
      const servers = take();
      return {
        op: "observe",
        servers,
        forStart: servers.some(({ forStart }) => forStart === true),
        others: onTaken(),
        protocol: PROTOCOL_VERSION,
        deadlineSeconds: OBSERVE_SECONDS,
      };
    };
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

  /** Queries that come once it is on its way wait for what it tells. */
  async #lookAtAll(take: () => readonly ServerQuery[]): Promise<Observation> {
    const salt = randomBytes(16).toString("hex");
    const waiting: ReturnType<SharedSight["begin"]>[] = [];
    const onTaken = (): OthersWish => {
      waiting.push(this.#options.sight.begin());
      return { salt };
    };
    try {
      const { others, ...observation } = await this.#look(take, onTaken);
      if (others === undefined) throw new Error("the agent did not tell of the other servers");
      for (const look of waiting) look.tell({ observation, others, salt });
      return observation;
    } catch (error) {
      for (const look of waiting) look.fail(error);
      throw error;
    }
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
