import type { HostSpec } from "../core/spec";
import { connect } from "../ssh/connect";
import { hostIdentity } from "../ssh/host-identity";
import { resolveTarget } from "../ssh/resolve-target";
import { AgentClient } from "./agent-client";
import type { HostAgent } from "./host-agent";
import { SharedConnection } from "./shared-connection";

/** For this process: one connection a host and credentials, one agent beside it for each way of calling. */
const connections = new Map<string, SharedConnection>();
const agents = new Map<string, HostAgent>();

/** The agent of a host. Connects when it is first called, within `connectSeconds`; all callers with the same host share one connection. */
export function agentFor(host: HostSpec, connectSeconds: number): HostAgent {
  const identity = hostIdentity(host);
  const { python, dialErrorLimit, perDialTimeoutSeconds, ...access } = host;
  const key = JSON.stringify([identity, access]);
  const agentKey = JSON.stringify([key, python, dialErrorLimit, perDialTimeoutSeconds, connectSeconds]);
  const known = agents.get(agentKey);
  if (known !== undefined) return known;
  const connection = connections.get(key) ?? new SharedConnection();
  connections.set(key, connection);
  const open = async (): ReturnType<typeof connect> => connect(await resolveTarget(host), { connectSeconds });
  const agent = new AgentClient({
    hostLabel: identity,
    python,
    withTransport: (run) => connection.use(open, run),
  });
  agents.set(agentKey, agent);
  return agent;
}

/** Ends every connection of this process, so that nothing keeps it alive. Calls that still run fail with CONNECTION_LOST. */
export async function closeAllConnections(): Promise<void> {
  await Promise.all([...connections.values()].map((connection) => connection.close()));
}
