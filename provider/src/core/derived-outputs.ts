import { isLoopback } from "./identity";
import { pathsOverlap } from "./input-path";
import { UNKNOWN_VALUE } from "./input-unknowns";
import { isCommit, modelName } from "./model-source";
import type { ModelSpec, Spec } from "./spec";
import { bracketed, tunnelCommand } from "./ssh-command";

/** Outputs that follow from the inputs alone, so a preview knows them. */
export interface DerivedOutputs {
  /** Where the server answers: through the tunnel when it listens on loopback only. */
  readonly url: string;
  /** OpenAI base URL: url + "/v1". */
  readonly baseUrl: string;
  /** First name of the model, the one that answers carry. */
  readonly servedModelName: string;
  /** Opens the way to a server on loopback; null: it can be reached without. */
  readonly tunnelCommand: string | null;
  /** The commit that is declared; null: a folder. Left out where a branch or a tag is declared: only the hub knows. */
  readonly modelRevision?: string | null;
}

export const DERIVED_OUTPUTS = [
  "url",
  "baseUrl",
  "servedModelName",
  "tunnelCommand",
  "modelRevision",
] as const;

export function isDerivedOutput(name: string): boolean {
  return DERIVED_OUTPUTS.some((output) => output === name);
}

export function derivedOutputs(spec: Spec): DerivedOutputs {
  const { address, port } = spec.listen;
  const isLocal = isLoopback(address);
  const url = `http://${isLocal ? "127.0.0.1" : bracketed(reachable(address, spec.host.host))}:${String(port)}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    servedModelName: servedModelNames(spec)[0] ?? "",
    tunnelCommand: isLocal ? tunnelCommand(spec.host, address, port) : null,
    ...declaredRevision(spec.model),
  };
}

function declaredRevision(model: ModelSpec): Pick<DerivedOutputs, "modelRevision"> {
  if (model.kind === "local") return { modelRevision: null };
  return isCommit(model.revision) ? { modelRevision: model.revision } : {};
}

/** The inputs that say which model, whichever of them is given. */
export const MODEL_PLACES: readonly string[] = ["model.path", "model.repo"];

/** The inputs that each of them repeats. */
export function derivedSources(
  address: string,
  hasServedName: boolean,
): Readonly<Record<keyof DerivedOutputs, readonly string[]>> {
  // A server on loopback is reached at the near end of the tunnel, wherever its host is.
  const urlFrom = isLoopback(address) ? ["listen"] : ["listen", "host"];
  return {
    url: urlFrom,
    baseUrl: urlFrom,
    servedModelName: ["engine.servedModelName", ...(hasServedName ? [] : MODEL_PLACES)],
    tunnelCommand: ["listen", "host"],
    modelRevision: ["model.revision", ...MODEL_PLACES],
  };
}

/** The same in a preview in which some inputs are unknown: what follows from one of those is unknown too, the rest is not. */
export function derivedOutputsKnown(
  spec: Spec,
  unknowns: readonly string[],
): Readonly<Partial<Record<keyof DerivedOutputs, string | null>>> {
  const from = derivedSources(spec.listen.address, "servedModelName" in spec.engine);
  const isUnknown = (name: keyof DerivedOutputs): boolean =>
    from[name].some((path) => unknowns.some((unknown) => pathsOverlap(unknown, path)));
  const unknown = DERIVED_OUTPUTS.filter(isUnknown).map((name) => [name, UNKNOWN_VALUE] as const);
  return { ...derivedOutputs(spec), ...Object.fromEntries(unknown) };
}

/** Names of the model in requests; without a name of its own the last part of its path, or the repository. */
export function servedModelNames(spec: Spec): readonly string[] {
  const given = spec.engine["servedModelName"];
  if (Array.isArray(given)) return given.filter((name): name is string => typeof name === "string");
  return [modelName(spec.model)];
}

/** "All addresses" is no address to connect to: the host's own name is. */
function reachable(address: string, host: string): string {
  return address === "0.0.0.0" || address === "::" ? host : address;
}
