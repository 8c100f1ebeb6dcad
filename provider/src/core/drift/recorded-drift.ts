import type { JsonObject } from "../json";
import { driftLine, REPAIRS, type Drift, type Repair } from "./drift";

/** Output of our own beside `drift`, one word for each line of it. */
const REPAIRS_KEY = "__repairs";
/** Whether the inputs of the state are those found: the engine shows the drift by itself then. */
const IN_INPUTS_KEY = "__foundInInputs";
/** What configHash should be: the output itself becomes what is found, and the next refresh must not believe that. */
const HASH_KEY = "__configHash";

export interface RecordedDrift {
  readonly line: string;
  readonly repair: Repair;
}

/**
 * As it stands in the outputs of a state.
 * @param configHash what was declared; null: nothing was started.
 */
export function recordedDrift(
  drift: readonly Drift[],
  { isInInputs, configHash }: { readonly isInInputs: boolean; readonly configHash: string | null },
): JsonObject {
  return {
    drift: drift.map(driftLine),
    [REPAIRS_KEY]: drift.map(({ repair }) => repair),
    [IN_INPUTS_KEY]: isInInputs,
    [HASH_KEY]: configHash,
  };
}

/** null: not recorded. Earlier versions did so in the output alone. */
export function declaredHash(outputs: JsonObject): string | null {
  const hash = outputs[HASH_KEY] ?? outputs["configHash"];
  return typeof hash === "string" ? hash : null;
}

export function isDriftInInputs(outputs: JsonObject): boolean {
  return outputs[IN_INPUTS_KEY] === true;
}

/** What the last look at the host found. Earlier versions did not say what is to be done about it: a restart. */
export function readDrift(outputs: JsonObject): readonly RecordedDrift[] {
  const { drift, [REPAIRS_KEY]: repairs } = outputs;
  if (!Array.isArray(drift)) return [];
  const words: readonly unknown[] = Array.isArray(repairs) ? repairs : [];
  return drift.map((line: unknown, index) => ({
    line: String(line),
    repair: REPAIRS.find((repair) => repair === words[index]) ?? "restart",
  }));
}
