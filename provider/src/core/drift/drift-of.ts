import { formatPath } from "../input-path";
import type { Observed } from "../observed";
import { configDrift } from "./config-drift";
import { declaredDrift, type Believed } from "./declared-drift";
import type { Drift } from "./drift";
import { hostDrift } from "./host-drift";
import { processDrift } from "./process-drift";
import { ownerDrift, statusDrift } from "./status-drift";

/**
 * Property by property, how the host is not as it was left; [] when it is. One entry a property: what comes first is nearest to the
 * running server.
 * @param believed what a state says; null: only what was changed on the host since the server was started counts.
 */
export function driftOf(observed: Observed, believed: Believed | null = null): readonly Drift[] {
  const { server } = observed;
  const marks = believed?.marks ?? [];
  const all = [
    ...ownerDrift(observed, believed?.claimId ?? null),
    ...statusDrift(observed),
    ...hostDrift(observed),
    ...processDrift(server.differences, marks),
    ...configDrift(server.differences, marks),
    ...(believed === null ? [] : declaredDrift(observed, believed)),
    ...missingFiles(observed),
  ];
  const seen = new Set<string>();
  return all.filter(({ path }) => {
    const place = formatPath(path);
    return !seen.has(place) && seen.add(place);
  });
}

function missingFiles({ server: { launch, modelPathIntact }, checkpoint }: Observed): readonly Drift[] {
  if (launch === null) return [];
  if (modelPathIntact !== false) return checkpointDrift(launch.modelPath, checkpoint);
  const words = `files of ${launch.modelPath} are missing`;
  return [{ path: ["modelPath"], found: `${launch.modelPath} (files missing)`, words, repair: "restart" }];
}

/** What was downloaded and is not whole any more: the running server has read it, the next start needs it. A folder of the user's has a path. */
function checkpointDrift(modelPath: string, checkpoint: Observed["checkpoint"]): readonly Drift[] {
  if (checkpoint === null || checkpoint.found || checkpoint.path.startsWith("/")) return [];
  // By its key where the host does not know any more what it was.
  const isForgotten = checkpoint.path.startsWith("checkpoints/");
  const words = isForgotten
    ? "the checkpoint that it was started from is not on the host any more"
    : `the checkpoint ${checkpoint.path} is not whole any more (${checkpoint.reason})`;
  return [{ path: ["modelPath"], found: `${modelPath} (not whole)`, words, repair: "live" }];
}
