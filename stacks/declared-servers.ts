import type { VllmServerArgs } from "pulumi-vllm";
import { inputProblems, sharedPorts, type InputProblem } from "pulumi-vllm/inputs";
import { pathAt, refusal, type ConfigProblem } from "./config-problem";
import { readSections, sectionPath, type Sections } from "./config-sections";
import { layersOf } from "./groups";
import { mergeLayers, type Inputs, type Layer } from "./layers";
import { markedAt, secretPlaces } from "./secret-places";

type Servers = readonly (readonly [name: string, args: VllmServerArgs])[];

/**
 * The servers of the stack's config: `servers:` (name -> inputs of VllmServer), over the inputs of the `groups:` that a server names with
 * `group`, over `defaults:`. Values may be secrets (`pulumi config set --path --secret vllm-servers:servers.kimi.apiKey`): these are marked, and
 * the rest stays readable in diffs although Pulumi takes an object with one secret in it for a secret as a whole.
 * @throws pulumi.RunError with everything that is wrong, each at its path in the config
 */
export function declaredServers(): Servers {
  const sections = readSections();
  const { defaults, groups, servers, problems: ofGroups } = layersOf(sections);
  // Shared layers are judged by themselves too: what is wrong in them is told once, also where no server takes it.
  const shared = [defaults, ...groups].flatMap((layer) =>
    problemsOf(layer.inputs, sections, true).map((problem) => placedIn(layer, problem)),
  );
  const judged = servers.map(({ name, below, own }) => {
    const { inputs, layerOf, changed } = mergeLayers(below, own);
    const placed = problemsOf(inputs, sections).map((problem) => {
      const layer = layerOf(problem.path);
      return { ...placedIn(layer, problem), ...(layer === own ? {} : { server: name }) };
    });
    return { name, inputs, changed, problems: placed };
  });
  const ports = sharedPorts(Object.fromEntries(judged.map(({ name, inputs }) => [name, inputs])));
  const all = [
    ...[...sections.problems, ...ofGroups, ...shared, ...judged.flatMap(({ problems }) => problems)],
    ...ports.map(({ name, other, port }) => ({
      path: pathAt(sectionPath("servers"), name, "listen", "port"),
      found: `${String(port)}, which server ${other} has on this host`,
      wanted: "a port of its own",
    })),
  ];
  if (all.length > 0) throw refusal(all);
  const secrets = sections.holdsSecrets ? secretPlaces() : [];
  return judged.flatMap(({ name, changed }) => {
    const args = changed((value, path) => markedAt(secrets, value, path));
    return isJudged(args) ? [[name, args] as const] : [];
  });
}

/** What VllmServer would refuse. */
function problemsOf(inputs: Inputs, { holdsSecrets }: Sections, isPart = false): readonly InputProblem[] {
  return inputProblems(inputs, { isPart, holdsSecrets });
}

function placedIn(layer: Layer, { path, found, wanted }: InputProblem): ConfigProblem {
  return { path: pathAt(layer.path, ...path), found, wanted };
}

/** Nothing was found wrong with them; what was marked secret since is an output, which every input may be. */
function isJudged(inputs: Inputs): inputs is Inputs & VllmServerArgs {
  return "host" in inputs && "model" in inputs;
}
