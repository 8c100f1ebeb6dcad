import { DERIVED_OUTPUTS, derivedOutputs } from "../derived-outputs";
import { isMembers } from "../input-json";
import type { InputPath } from "../input-path";
import { INPUT_NAMES } from "../input-reader";
import type { JsonObject, JsonValue } from "../json";
import { inputsOf, parseInputs } from "../parse-inputs";
import { driftLine, type Drift } from "./drift";

/** Inputs beside the declared ones: what follows from them, and what an update reaches. */
const REACHED: JsonObject = { status: "ready" };
const KEPT: readonly string[] = [...INPUT_NAMES, ...DERIVED_OUTPUTS, "__urn", "__secrets"];

/** What check() adds, so that a preview shows what an update makes of a server that does not answer. */
export function reachedInputs(): JsonObject {
  return REACHED;
}

/**
 * Inputs for the state: as declared, but for what was found on the host. The engine compares them with the program's, and shows each
 * difference at its property. Outputs keep what was declared, and that is what every hook reads.
 * @param outputs of the state, in which the declared inputs stand
 */
export function foundInputs(outputs: JsonObject, drift: readonly Drift[]): JsonObject {
  const { modelRevision: _, ...others } = outputs;
  // What a branch was resolved to follows from no input.
  const followed = isRevisionDeclared(outputs) ? outputs : others;
  const declared = Object.fromEntries(Object.entries(followed).filter(([name]) => KEPT.includes(name)));
  const found = drift.reduce<JsonObject>((inputs, { path, found: value }) => withValue(inputs, path, value), {
    ...declared,
    ...REACHED,
  });
  // Also where each of them happens to be what the program now says: there has to be an update.
  return drift.length === 0 ? found : { ...found, drift: drift.map(driftLine) };
}

function isRevisionDeclared(outputs: JsonObject): boolean {
  const parsed = parseInputs(inputsOf(outputs));
  return parsed.ok && "modelRevision" in derivedOutputs(parsed.spec);
}

function withValue(
  inputs: JsonObject,
  [name, ...below]: InputPath,
  value: JsonValue | undefined,
): JsonObject {
  const key = String(name);
  const { [key]: before, ...others } = inputs;
  const members = isMembers(before) ? before : {};
  const now = below.length === 0 ? value : withValue(members, below, value);
  return now === undefined || (below.length > 0 && before === undefined && value === undefined)
    ? others
    : { ...others, [key]: now };
}
