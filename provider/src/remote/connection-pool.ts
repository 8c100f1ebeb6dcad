import type { HostSpec } from "../core/spec";
import { connect } from "../ssh/connect";
import { hostIdentity } from "../ssh/host-identity";
import { resolveTarget } from "../ssh/resolve-target";
import { AgentClient } from "./agent-client";
import type { HostAgent } from "./host-agent";
import { IdleWatch } from "./idle-watch";
import { SharedConnection } from "./shared-connection";
import { SharedSight, type HostChanges } from "./shared-sight";

/**
 * A minute without a call to any host: nothing is under way here any more. While one host is being worked on the connections to
 * the others stay, because a refresh or an update comes back to a host after however long the others take.
 */
const IDLE_MILLISECONDS = 60_000;

/** For this process: one connection a host and credentials, one agent beside it for each way of calling. */
const connections = new Map<string, SharedConnection>();
const agents = new Map<string, HostAgent>();
/** By host and account, whatever credentials lead there: who changes something outdates what all others saw. */
const changes = new Map<string, HostChanges>();
/** What a look for a refresh told, by connection and Python: how often to dial and how long to wait change nothing of it. */
const sights = new Map<string, SharedSight>();
const watch = new IdleWatch(IDLE_MILLISECONDS, () => void closeAllConnections());

/** The agent of a host. Connects when it is first called, within `connectSeconds`; all callers with the same host share one connection. */
export function agentFor(host: HostSpec, connectSeconds: number): HostAgent {
  const identity = hostIdentity(host);
  // sudo is what may be done there, not how to get there.
  const { python, sudo: _sudo, dialErrorLimit, perDialTimeoutSeconds, ...access } = host;
  const key = JSON.stringify([identity, access]);
  const agentKey = JSON.stringify([key, python, dialErrorLimit, perDialTimeoutSeconds, connectSeconds]);
  return known(agents, agentKey, () => {
    const connection = known(connections, key, () => new SharedConnection());
    const ofHost = known(changes, identity, () => ({ count: 0 }));
    const open = async (): ReturnType<typeof connect> =>
      connect(await resolveTarget(host), { connectSeconds });
    return new AgentClient({
      hostLabel: identity,
      python,
      withTransport: (run) => watch.during(() => connection.use(open, run)),
      sight: known(sights, JSON.stringify([key, python]), () => new SharedSight(ofHost)),
    });
  });
}

/** Ends every connection of this process, so that nothing keeps it alive, and forgets what was seen. Calls that still run fail with CONNECTION_LOST. */
export async function closeAllConnections(): Promise<void> {
  for (const sight of sights.values()) sight.forget();
  await Promise.all([...connections.values()].map((connection) => connection.close()));
}

function known<T>(map: Map<string, T>, key: string, make: () => T): T {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
