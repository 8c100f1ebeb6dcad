import { kindOf, pathAt, type ConfigProblem } from "./config-problem";
import { sectionPath, type Sections } from "./config-sections";
import type { Inputs, Layer } from "./layers";

/** A server and the layers below it: the defaults, then its groups in the order it names them. */
export interface LayeredServer {
  readonly name: string;
  readonly below: readonly Layer[];
  readonly own: Layer;
}

export interface Layers {
  readonly defaults: Layer;
  readonly groups: readonly Layer[];
  readonly servers: readonly LayeredServer[];
  readonly problems: readonly ConfigProblem[];
}

/** Takes `group` out of the inputs: it is the one member of a server that is no input of VllmServer. */
export function layersOf({ defaults, groups, servers, holdsSecrets }: Sections): Layers {
  const problems: ConfigProblem[] = [];
  const layer = (path: string, inputs: Inputs): Layer => ({
    path,
    inputs: ungrouped(path, inputs, problems),
  });
  const bottom = layer(sectionPath("defaults"), defaults);
  const byName = new Map(
    [...groups].map(([name, inputs]) => [name, layer(pathAt(sectionPath("groups"), name), inputs)]),
  );
  const layered = [...servers].map(([name, { group, groups: misspelled, ...inputs }]): LayeredServer => {
    const path = pathAt(sectionPath("servers"), name);
    if (misspelled !== undefined)
      problems.push({
        path: pathAt(path, "groups"),
        found: kindOf(misspelled),
        wanted: "the name group, also for a list",
      });
    return {
      name,
      below: [bottom, ...chosenGroups(group, path, { groups: byName, holdsSecrets }, problems)],
      own: { path, inputs },
    };
  });
  return { defaults: bottom, groups: [...byName.values()], servers: layered, problems };
}

function ungrouped(path: string, { group, ...inputs }: Inputs, problems: ConfigProblem[]): Inputs {
  if (group !== undefined)
    problems.push({
      path: pathAt(path, "group"),
      found: kindOf(group),
      wanted: "nothing: only a server names groups",
    });
  return inputs;
}

function chosenGroups(
  group: unknown,
  server: string,
  { groups, holdsSecrets }: { readonly groups: ReadonlyMap<string, Layer>; readonly holdsSecrets: boolean },
  problems: ConfigProblem[],
): readonly Layer[] {
  if (group === undefined || group === null) return [];
  const place = pathAt(server, "group");
  const isList = Array.isArray(group);
  const names: readonly unknown[] = isList ? group : [group];
  return names.flatMap((name, index) => {
    const chosen = typeof name === "string" ? groups.get(name) : undefined;
    if (chosen !== undefined) return [chosen];
    problems.push({
      path: isList ? pathAt(place, index) : place,
      found: typeof name === "string" && name !== "" && !holdsSecrets ? JSON.stringify(name) : kindOf(name),
      wanted:
        groups.size === 0
          ? `a group of ${sectionPath("groups")}, where there is none`
          : `one of ${[...groups.keys()].join(", ")}, the groups of ${sectionPath("groups")}`,
    });
    return [];
  });
}
