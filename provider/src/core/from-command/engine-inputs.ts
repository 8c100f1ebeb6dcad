import { engineNameOf, ENGINE_FLAGS } from "../engine-flags";
import { isMembers } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { NEWEST_FLAGS } from "../vllm-flags-table";
import { REMOVED_FLAGS } from "../vllm-flags-removed";
import { valueOf, writtenFlags } from "./flag-values";

/** What the words of `vllm serve` are as inputs; the values of flags that became other inputs are in `others`. */
export interface EngineInputs {
  readonly engine: JsonObject;
  readonly extraArgs: JsonObject;
  /** model, host, port, revision and the like, by flag. */
  readonly others: ReadonlyMap<string, JsonValue>;
  /** `code subject`. */
  readonly notes: readonly string[];
}

/** Flags that are inputs of another place, or none. */
const OTHER_FLAGS: ReadonlySet<string> = new Set([
  ...["model", "revision", "host", "port", "api-key", "hf-token", "download-dir", "kv-cache-dtype"],
  ...["device-ids", "config", "rope-scaling"],
]);

/** Not in the table of removed flags. Source: the 0.32.0 parser refuses them. */
const ALSO_REMOVED: ReadonlySet<string> = new Set([
  "use-v2-block-manager",
  "disable-frontend-multiprocessing",
]);

/** A word whose value nobody can know from the text: `${X}`, `$(...)`. */
const UNKNOWN = /\$[{(]/;

export function engineInputs(words: readonly string[]): EngineInputs {
  const { positionals, flags } = writtenFlags(words);
  const values = new Map<string, JsonValue>();
  const notes: string[] = [];
  const others = new Map<string, JsonValue>();
  if (positionals[0] !== undefined) others.set("model", positionals[0]);
  for (const written of flags) {
    const { flag, value } = valueOf(written);
    if (flag === "task" || flag === "cuda-graph-sizes") {
      notes.push(`renamed-flag --${flag}`);
      if (flag === "task") for (const [name, each] of taskFlags(String(value))) values.set(name, each);
      else values.set("max-cudagraph-capture-size", Number(value));
    } else if (OTHER_FLAGS.has(flag)) others.set(flag, value);
    else if (!written.known && isRemoved(flag)) notes.push(`removed-flag --${flag}`);
    else if (written.values.some((each) => UNKNOWN.test(each))) notes.push(`needs-value ${pathOf(flag)}`);
    else values.set(flag, merged(values.get(flag), value, written.members.length > 0));
  }
  return { ...placed(values), others, notes };
}

/** Source: vLLM 0.13 pull requests that took --task away. */
function taskFlags(task: string): readonly (readonly [string, string])[] {
  if (task === "generate" || task === "transcription") return [["runner", "generate"]];
  const convert = task === "embed" ? "embed" : "classify";
  return [["runner", "pooling"] as const, ["convert", convert] as const];
}

function isRemoved(flag: string): boolean {
  return ALSO_REMOVED.has(flag) || REMOVED_FLAGS.some((row) => row.flag === flag);
}

function pathOf(flag: string): string {
  const name = engineNameOf(flag);
  return name === null ? `extraArgs.${flag}` : `engine.${name}`;
}

function merged(before: JsonValue | undefined, value: JsonValue, isDotted: boolean): JsonValue {
  if (!isDotted || before === undefined || !isMembers(before) || !isMembers(value)) return value;
  const out: Record<string, JsonValue> = { ...before };
  for (const [key, each] of Object.entries(value)) out[key] = merged(out[key], each, true);
  return out;
}

function placed(values: ReadonlyMap<string, JsonValue>): Pick<EngineInputs, "engine" | "extraArgs"> {
  const engine: Record<string, JsonValue> = {};
  const extraArgs: Record<string, JsonValue> = {};
  for (const [flag, value] of values) {
    const name = engineNameOf(flag);
    const isList = name !== null && ENGINE_FLAGS.get(name)?.kind === "list";
    if (name === null) extraArgs[flag] = numbered(flag, value);
    else engine[name] = isList && !Array.isArray(value) ? [value] : value;
  }
  return { engine, extraArgs };
}

/** An enum of numbers is a number. */
function numbered(flag: string, value: JsonValue): JsonValue {
  const choices = NEWEST_FLAGS.get(flag)?.choices ?? [];
  const isNumeric = choices.length > 0 && choices.every((choice) => /^\d+$/.test(choice));
  return isNumeric && typeof value === "string" ? Number(value) : value;
}
