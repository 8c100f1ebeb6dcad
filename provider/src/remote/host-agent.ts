import type { Observation } from "../core/observed";
import type { AgentEvent, ApplyRequest, ApplyResult, FlagsResult, ServerQuery } from "./protocol";

/** The agent of one host, over one pooled connection. Every call is one SSH exec. */
export interface HostAgent {
  /** Queries made in the same few milliseconds for one host travel in one exec. */
  observe(query: ServerQuery): Promise<Observation & { readonly queryIndex: number }>;
  apply(
    request: Omit<ApplyRequest, "op">,
    deadlineSeconds: number,
    onEvent: (event: AgentEvent) => void,
  ): Promise<ApplyResult>;
  flags(executable: string, environment?: Readonly<Record<string, string>>): Promise<FlagsResult>;
}
