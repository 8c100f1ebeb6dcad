import type { Observation } from "../core/observed";
import type { AgentEvent, ApplyRequest, ApplyResult, FlagsResult, ServerQuery } from "./protocol";

/** The agent of one host, over one pooled connection. Every call is one SSH exec. */
export interface HostAgent {
  /** Queries made in the same few milliseconds for one host travel in one exec. */
  observe(query: ServerQuery): Promise<Observation & { readonly queryIndex: number }>;
  /**
   * The same for a refresh, which changes nothing: answered from a look that was made for another server of the host less than a
   * minute ago where that look tells all that is asked for. One look tells of all servers of the stack.
   */
  refresh(query: ServerQuery): Promise<Observation & { readonly queryIndex: number }>;
  apply(
    request: Omit<ApplyRequest, "op">,
    deadlineSeconds: number,
    onEvent: (event: AgentEvent) => void,
  ): Promise<ApplyResult>;
  flags(executable: string, environment?: Readonly<Record<string, string>>): Promise<FlagsResult>;
}
