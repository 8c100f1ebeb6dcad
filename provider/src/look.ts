import type { Observed } from "./core/observed";
import type { Spec } from "./core/spec";
import { serverEnvironment } from "./core/vllm-command";
import type { HostAgent } from "./remote/host-agent";

export interface LookFor {
  readonly spec: Spec;
  readonly urn: string;
  /** null: by URN. */
  readonly serverId: string | null;
}

/** One round trip: everything plan, outputs and drift need to know of one server and its host. */
export async function look(agent: HostAgent, { spec, urn, serverId }: LookFor): Promise<Observed> {
  const observation = await agent.observe({
    serverId,
    urn,
    executable: spec.vllm.executable,
    checkpointPath: spec.model.path,
    listen: spec.listen,
    secretEnvironment: serverEnvironment(spec, { home: "" }).secretEnvironment,
  });
  const own = observation.servers[observation.queryIndex];
  if (own === undefined)
    throw new Error(`the agent answered ${String(observation.servers.length)} servers, not ours`);
  return { host: observation.host, gpus: observation.gpus, gpuError: observation.gpuError, ...own };
}
