import { hostSchema } from "../../core/input-host";
import type { HostSpec } from "../../core/spec";
import { parseUrn } from "../../core/urn";
import { LogsFailure } from "./failure";
import { stackResources, type StackPlace, type StateResource } from "./stack-state";
import { holdsClosedSecret, withOpenedSecrets } from "./state-secrets";

const TYPE = "pulumi-nodejs:dynamic/vllm:VllmServer";

export interface FoundServer {
  readonly name: string;
  readonly serverId: string;
  readonly host: HostSpec;
}

/** The server of that name, or of that URN, and how to get to its host. Fails with LogsFailure. */
export async function findServer(name: string, place: StackPlace): Promise<FoundServer> {
  const closed = namedServer(name, await stackResources(place, { showsSecrets: false }));
  const isClosed = holdsClosedSecret(closed.inputs?.["host"]);
  const found = isClosed ? namedServer(name, await stackResources(place, { showsSecrets: true })) : closed;
  return { name: parseUrn(found.urn).name, serverId: found.id ?? "", host: hostOf(found) };
}

/** Fails with LogsFailure where there is none, and where there are several. */
export function namedServer(name: string, resources: readonly StateResource[]): StateResource {
  const servers = resources.filter(({ type, id }) => type === TYPE && id !== undefined);
  const [first, ...others] = servers.filter(({ urn }) => urn === name || parseUrn(urn).name === name);
  if (first === undefined) {
    const known = servers.map(({ urn }) => parseUrn(urn).name);
    const there = known.length === 0 ? "the stack has no VllmServer" : `it has ${known.join(", ")}`;
    throw new LogsFailure(
      "server-not-found",
      `Cannot find the server ${JSON.stringify(name)} in the stack: ${there}`,
    );
  }
  if (others.length > 0) {
    const urns = [first, ...others].map(({ urn }) => `\n  ${urn}`).join("");
    throw new LogsFailure(
      "server-ambiguous",
      `Cannot tell which server ${JSON.stringify(name)} is: several have that name, need one of their URNs${urns}`,
    );
  }
  return first;
}

function hostOf({ urn, inputs }: StateResource): HostSpec {
  const parsed = hostSchema.safeParse(withOpenedSecrets(inputs?.["host"]));
  if (parsed.success) return parsed.data;
  // Not what stands there: it may be a key.
  throw new LogsFailure(
    "host-not-readable",
    `Cannot read the host of ${urn} from the state: need ${parsed.error.issues[0]?.message ?? "a host"}`,
  );
}
