import { pathAt } from "./config-problem";

/** Inputs of VllmServer as they stand in the config, or some of them. */
export type Inputs = Readonly<Record<string, unknown>>;

/** A place of the config that says inputs: the defaults, a group, a server. */
export interface Layer {
  /** "vllm-servers:groups.blackwell" */
  readonly path: string;
  readonly inputs: Inputs;
}

/** Where a value stands in the inputs: names and indexes, outermost first. */
type Path = readonly (string | number)[];

export interface Merged {
  readonly inputs: Inputs;
  /** The layer that a value comes from; of what is not there, the last one: that is where it would be written. */
  readonly layerOf: (path: Path) => Layer;
  /** The inputs with what `change` makes of each value; it is told where in the config the value is written. */
  readonly changed: (change: Change) => Inputs;
}

type Change = (value: unknown, path: string) => unknown;

type Node =
  | { readonly kind: "object"; readonly layer: Layer; readonly members: ReadonlyMap<string, Node> }
  | { readonly kind: "value"; readonly layer: Layer; readonly value: unknown };

/**
 * Layers over one another, the last one on top: objects are merged, everything else is replaced, null takes away what is below it.
 * @param layers at least the last one
 */
export function mergeLayers(below: readonly Layer[], last: Layer): Merged {
  const root = [...below, last].reduce<Node | undefined>(
    (node, layer) => overlaid(node, layer.inputs, layer, []),
    undefined,
  );
  const changed = (change: Change): Inputs => {
    const inputs = root === undefined ? {} : plainOf(root, [], change);
    return isObject(inputs) ? inputs : {};
  };
  return { inputs: changed((value) => value), layerOf: (path) => layerAt(root, path) ?? last, changed };
}

function overlaid(below: Node | undefined, value: unknown, layer: Layer, path: readonly string[]): Node {
  if (!isObject(value)) return { kind: "value", layer, value };
  const members = new Map(below?.kind === "object" ? below.members : []);
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, name];
    if (inner === null && !isNullValue(at)) members.delete(name);
    else members.set(name, overlaid(members.get(name), inner, layer, at));
  }
  return { kind: "object", layer, members };
}

/** Inside what is handed on as it is, null is a value: an override that sets null, a member of a flag that is an object. */
function isNullValue([input, ...rest]: readonly string[]): boolean {
  if (input === "configOverrides" || input === "quantizationConfigOverrides") return rest.length > 0;
  return (input === "engine" || input === "extraArgs") && rest.length > 1;
}

function plainOf(node: Node, path: readonly string[], change: Change): unknown {
  if (node.kind === "value") return change(node.value, pathAt(node.layer.path, ...path));
  return Object.fromEntries(
    [...node.members].map(([name, inner]) => [name, plainOf(inner, [...path, name], change)]),
  );
}

function layerAt(root: Node | undefined, path: Path): Layer | undefined {
  let node = root;
  for (const part of path) {
    if (node?.kind !== "object") break;
    node = node.members.get(String(part));
  }
  return path.length === 0 ? undefined : node?.layer;
}

export function isObject(value: unknown): value is Inputs {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
