import { withoutSecrets } from "./core/crash-loop";
import { checkpointWish } from "./core/model-source";
import type { Observed } from "./core/observed";
import type { Spec } from "./core/spec";
import { serverEnvironment } from "./core/vllm-command";
import { executableWish } from "./core/vllm-source";
import type { HostAgent } from "./remote/host-agent";
import type { ServerQuery } from "./remote/protocol";

export interface LookFor {
  readonly spec: Spec;
  readonly urn: string;
  /** null: by URN. */
  readonly serverId: string | null;
  /** Costs a request to a server that looks ready. A refresh always asks. */
  readonly asksToken?: boolean | undefined;
  /** Costs a call of nvidia-smi more, and a look at the kernel's log. */
  readonly forStart?: boolean | undefined;
  /** Texts that are secret because the program marked them so. */
  readonly marked?: readonly string[];
}

/**
 * One round trip: everything plan, outputs and drift need to know of one server and its host.
 * @param purpose "refresh": changes nothing, so that one look may do for all servers of the host.
 */
export async function look(
  agent: HostAgent,
  { spec, urn, serverId, asksToken = false, forStart = false, marked = [] }: LookFor,
  purpose: "change" | "refresh" = "change",
): Promise<Observed> {
  const query: ServerQuery = {
    serverId,
    urn,
    executable: executableWish(spec.vllm),
    checkpointPath: checkpointWish(spec.model, urn),
    listen: spec.listen,
    secretEnvironment: serverEnvironment(spec, { home: "" }).secretEnvironment,
    asksToken,
    forStart,
  };
  const observation = await (purpose === "refresh" ? agent.refresh(query) : agent.observe(query));
  const own = observation.servers[observation.queryIndex];
  if (own === undefined)
    throw new Error(`the agent answered ${String(observation.servers.length)} servers, not ours`);
  const server = withoutSecrets(own.server, spec, marked);
  return { host: observation.host, gpus: observation.gpus, gpuError: observation.gpuError, ...own, server };
}
