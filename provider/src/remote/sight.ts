import type { Observation } from "../core/observed";
import { hostPath } from "./host-path";
import type { IndexedObservation } from "./observe-batch";
import type { Others, ServerQuery } from "./protocol";
import { differingSecrets, secretHashes } from "./secret-hash";

/** What one look told of a host and of all servers of a stack on it. */
export interface Sight {
  readonly observation: Observation;
  readonly others: Others;
  /** Of the hashes in it. */
  readonly salt: string;
}

type Part<Name extends keyof Observation["servers"][number]> = Observation["servers"][number][Name];

/**
 * The answer to a query that the look was not made for; null where anything of the query is not among what was looked at, its server
 * first of all: that one is missing is for a look of its own to say.
 */
export function answerFrom(sight: Sight, query: ServerQuery): IndexedObservation | null {
  const server = serverOf(sight, query);
  const executable = executableOf(sight, query);
  const checkpoint = checkpointOf(sight, query);
  const port = portOf(sight, query);
  if (server === undefined || executable === undefined || checkpoint === undefined || port === undefined)
    return null;
  const { host, gpus, gpuError } = sight.observation;
  return { host, gpus, gpuError, servers: [{ server, executable, checkpoint, port }], queryIndex: 0 };
}

function serverOf({ others, salt }: Sight, query: ServerQuery): Part<"server"> | undefined {
  const own = others.servers.find((one) => one.serverId === query.serverId);
  if (own === undefined) return undefined;
  if (own.secretHashes === null) return { ...own.server, secretsMatch: null };
  const differing = differingSecrets(own.secretHashes, secretHashes(query.secretEnvironment, salt));
  const differences = { ...own.server.differences, secrets: [...differing] };
  return { ...own.server, secretsMatch: differing.length === 0, differences };
}

function executableOf(sight: Sight, { executable: wish }: ServerQuery): Part<"executable"> | undefined {
  if (wish === undefined) return null;
  const path = wish?.includes("/") === true ? hostPath(wish, sight.observation.host.home) : wish;
  return sight.others.executables.find((one) => one.wish === wish || one.wish === path)?.seen;
}

function checkpointOf(sight: Sight, { checkpointPath }: ServerQuery): Part<"checkpoint"> | undefined {
  if (checkpointPath === undefined) return null;
  const path = hostPath(checkpointPath, sight.observation.host.home);
  return sight.others.checkpoints.find((one) => one.wish === checkpointPath || one.path === path);
}

function portOf({ others }: Sight, { listen }: ServerQuery): Part<"port"> | undefined {
  return others.ports.find((one) => one.address === listen.address && one.port === listen.port)?.seen;
}
