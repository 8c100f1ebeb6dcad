import { sizeText } from "./amount-text";
import { isCommit, modelLabel } from "./model-source";
import type { Spec } from "./spec";

const NAMED = 5;

/** What came of an installation, a download and a deletion, in words for the resource's own line; [] where there is nothing to tell. */

export function installWords(result: {
  readonly version: string | null;
  readonly built: boolean;
  readonly seconds: number;
}): readonly string[] {
  if (!result.built) return [];
  return [`installed vLLM ${result.version ?? "of unknown version"} in ${seconds(result.seconds)}`];
}

/** @param resolved what a branch or tag was known to be before */
export function fetchWords(
  { model }: Spec,
  result: {
    readonly revision: string | null;
    readonly files: number;
    readonly bytes: number;
    readonly fetchedBytes: number;
    readonly seconds: number;
    readonly refetched: readonly string[];
    readonly hashed: number;
    readonly unhashed: readonly string[];
  },
  resolved: string | null,
): readonly string[] {
  const { revision, files, bytes, fetchedBytes, refetched } = result;
  const isNews =
    model.kind === "hub" && !isCommit(model.revision) && revision !== null && revision !== resolved;
  const there = fetchedBytes < bytes ? `, ${sizeText(bytes - fetchedBytes)} were there` : "";
  return [
    ...(isNews ? [`${modelLabel(model)} is ${revision}, and stays that until the input changes`] : []),
    ...(refetched.length === 0 ? [] : [`fetched again, because it was broken: ${refetched.join(", ")}`]),
    ...(fetchedBytes === 0
      ? []
      : [
          `downloaded ${sizeText(fetchedBytes)} in ${seconds(result.seconds)} (${String(files)} files, ${sizeText(bytes)}${there})`,
        ]),
    ...unhashedWords(modelLabel(model), result.hashed, result.unhashed),
  ];
}

/** What `verify: "full"` could not look at is told, lest it passes for verified. */
function unhashedWords(label: string, hashed: number, unhashed: readonly string[]): readonly string[] {
  if (unhashed.length === 0) return [];
  const more = unhashed.length > NAMED ? ` and ${String(unhashed.length - NAMED)} more` : "";
  const named = `${unhashed.slice(0, NAMED).join(", ")}${more}`;
  return [
    `${label}: ${String(hashed)} files have the hub's hash, ${String(unhashed.length)} have no known hash and are not verified (${named})`,
  ];
}

/** "purged 3.1 GB; kept model.safetensors: used by shop-0a1b2c3d" */
export function purgeWords(result: {
  readonly freedBytes: number;
  readonly kept: readonly string[];
}): string {
  const kept = result.kept.length === 0 ? "" : `; kept ${result.kept.join("; ")}`;
  return `purged ${result.freedBytes === 0 ? "nothing" : sizeText(result.freedBytes)}${kept}`;
}

function seconds(value: number): string {
  return `${String(Math.max(1, Math.round(value)))} s`;
}
