import { pathsOverlap } from "./input-path";
import { INPUT_NAMES, type InputName } from "./input-reader";

/** What a changed input means. replace comes from the identity of the host alone. */
export type Effect = "restart" | "live" | "credentials";

/** What a change of each input means. Its docstring says the same (test/unit/change-words.test.ts). */
export const EFFECTS: Readonly<Record<InputName, Effect>> = {
  host: "credentials",
  model: "restart",
  kvCacheDtype: "restart",
  quantizationConfigOverrides: "restart",
  configOverrides: "restart",
  vllm: "restart",
  engine: "restart",
  extraArgs: "restart",
  environment: "restart",
  gpus: "restart",
  listen: "restart",
  allowUnauthenticated: "live",
  apiKey: "restart",
  service: "live",
  readiness: "live",
  timeouts: "live",
  update: "live",
  onDelete: "live",
};

/** Members that mean something else than their input. */
const EFFECTS_BELOW: Readonly<Record<string, Effect>> = {
  "service.manager": "restart",
  "model.token": "live",
  "model.verify": "live",
  // The credentials inside those URLs (diff-compare.ts).
  "model.endpointCredentials": "live",
  "vllm.indexUrlCredentials": "live",
  "vllm.extraIndexUrlsCredentials": "live",
  "vllm.packagesCredentials": "live",
};

/** By the input that a path begins with; a change that stands at no input ("") may be any of them. */
export function effectOf(path: string): Effect {
  // Of a whole input the gravest counts.
  const below = Object.entries(EFFECTS_BELOW).find(([place, effect]) =>
    effect === "restart" ? pathsOverlap(place, path) : place === path,
  );
  if (below !== undefined) return below[1];
  const name = path === "" ? undefined : INPUT_NAMES.find((input) => pathsOverlap(input, path));
  return name === undefined ? "restart" : EFFECTS[name];
}

/** Whether it only says how later operations go about it: nothing on the host changes with it. */
export function isOfOperations(path: string): boolean {
  return OF_OPERATIONS.some((input) => pathsOverlap(input, path)) || isOfGetting(path);
}

const OF_OPERATIONS: readonly InputName[] = [
  "allowUnauthenticated",
  "readiness",
  "timeouts",
  "update",
  "onDelete",
];

/** How a checkpoint or a package is got and looked at, the next time. */
function isOfGetting(path: string): boolean {
  return (path.startsWith("model.") || path.startsWith("vllm.")) && effectOf(path) === "live";
}

/** Whether it decides which machine is meant. */
export function isPlaceOfHost(path: string): boolean {
  return ["host.host", "host.port", "host.user", "host.sshConfigFile"].some((place) =>
    pathsOverlap(path, place),
  );
}
