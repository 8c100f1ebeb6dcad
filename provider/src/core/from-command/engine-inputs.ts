import { engineNameOf, ENGINE_FLAGS } from "../engine-flags";
import { isJsonList, isMembers } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { REMOVED_FLAGS } from "../vllm-flags-removed";
import { valueOf } from "./flag-values";
import { type GivenWord, isKnown } from "./given-word";
import type { Notes } from "./note";
import { SUCCESSORS } from "./successor-flags";
import { isEarlier } from "./version-order";
import type { WrittenFlag } from "./written-flags";

/** What flags are as inputs. */
export interface EngineInputs {
  readonly engine: JsonObject;
  readonly extraArgs: JsonObject;
  readonly configOverrides: JsonObject;
}

/**
 * The flags that are inputs below `engine` and `extraArgs`, judged against the version that the text pins.
 * @param version null: none is pinned, so that 0.32 counts.
 */
export function engineInputs(
  flags: readonly WrittenFlag[],
  version: string | null,
  notes: Notes,
): EngineInputs {
  const plain = new Map<string, JsonValue>();
  // vLLM puts `--flag.member` behind everything else, as one JSON text. Source: utils/argparse_utils.py parse_args, 0.32.0.
  const dotted = new Map<string, JsonValue>();
  // What flags that are gone say today stands beside what the text says itself.
  const renamed = new Map<string, JsonValue>();
  const seen = new Set<string>();
  for (const written of flags) {
    const unknown = written.values.find((word) => !isKnown(word));
    const name = written.flag.replace(/^no-/, "");
    if (written.members.length === 0 || !dotted.has(name)) tellRepeated(name, written, seen, notes);
    if (written.isRemoved && !isPinnedBefore(written.flag, version)) {
      if (unknown === undefined) placeGone(written, renamed, notes);
      else tellGone(written.flag, notes);
    } else if (unknown !== undefined) {
      notes.addUnknown(pathOf(name), textsOf(written.values));
    } else if (written.flag === "O") {
      placeOptimization(written, plain, dotted, notes);
    } else {
      tellKnown(written, notes);
      const isSwitch = written.row?.kind === "bool";
      const target = written.members.length > 0 ? dotted : plain;
      const value = valueOf(written, notes);
      const flag = isSwitch ? name : written.flag;
      if (written.row?.kind === "flag" && value === false) target.delete(flag);
      else target.set(flag, merged(written.members.length > 0 ? target.get(flag) : undefined, value));
    }
  }
  const said = new Map([...plain, ...dotted]);
  for (const [flag, value] of renamed)
    said.set(flag, said.has(flag) ? merged(value, said.get(flag) ?? null) : value);
  return placed(said);
}

function isPinnedBefore(flag: string, version: string | null): boolean {
  return version !== null && isEarlier(version, goneSince(flag));
}

/** First version without a flag of the table. */
function goneSince(flag: string): string {
  return REMOVED_FLAGS.find((each) => each.flag === flag)?.since ?? "0.32";
}

function tellRepeated(name: string, written: WrittenFlag, seen: Set<string>, notes: Notes): void {
  if (seen.has(name) && written.row?.kind !== "append")
    notes.add("repeated-flag", `--${name}`, "given more than once; the last one counts");
  seen.add(name);
}

function tellKnown({ flag, row, isRemoved }: WrittenFlag, notes: Notes): void {
  if (isRemoved)
    notes.add("removed-later", `--${flag}`, `known to the pinned vLLM, gone since ${goneSince(flag)}`);
  else if (row === null)
    notes.add("unknown-flag", `--${flag}`, "vLLM 0.32 does not know it; kept in extraArgs");
}

function tellGone(flag: string, notes: Notes): void {
  notes.add("removed-flag", `--${flag}`, `gone since ${goneSince(flag)}, left out`);
}

function placeGone(written: WrittenFlag, values: Map<string, JsonValue>, notes: Notes): void {
  const { flag } = written;
  const successor = SUCCESSORS.get(flag);
  if (successor === undefined) {
    tellGone(flag, notes);
    return;
  }
  const value = valueOf(written, notes);
  notes.add("renamed-flag", `--${flag}`, `gone since ${goneSince(flag)}, is ${successor.words}`);
  for (const [name, each] of Object.entries(successor.flags(value)))
    values.set(name, merged(values.get(name), each));
}

/** `-O` was the compilation config, and is the optimization level. */
function placeOptimization(
  written: WrittenFlag,
  values: Map<string, JsonValue>,
  dotted: Map<string, JsonValue>,
  notes: Notes,
): void {
  const [word] = written.values;
  const asConfig: WrittenFlag = { ...written, flag: "compilation-config", row: { kind: "json" } };
  if (written.members.length > 0) {
    notes.add("renamed-flag", "-O", "with members it is compilation-config");
    dotted.set("compilation-config", merged(dotted.get("compilation-config"), valueOf(asConfig, notes)));
  } else if (word !== undefined && /^\s*\{/.test(word.text)) {
    notes.add("renamed-flag", "-O", "with JSON it is compilation-config");
    values.set("compilation-config", valueOf(asConfig, notes));
  } else {
    notes.add("changed-meaning", "-O", "was the compilation level, is the optimization level");
    values.set("optimization-level", word?.text ?? "");
  }
}

function pathOf(flag: string): string {
  const name = engineNameOf(flag);
  return name === null ? `extraArgs.${flag}` : `engine.${name}`;
}

function textsOf(words: readonly GivenWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

/** Objects are merged and lists joined, at any depth. */
function merged(before: JsonValue | undefined, value: JsonValue): JsonValue {
  if (before !== undefined && isJsonList(before) && isJsonList(value)) return [...before, ...value];
  if (!isMembers(before) || !isMembers(value)) return value;
  const out: Record<string, JsonValue> = { ...before };
  for (const [key, each] of Object.entries(value)) out[key] = merged(out[key], each);
  return out;
}

function placed(values: ReadonlyMap<string, JsonValue>): EngineInputs {
  const engine: Record<string, JsonValue> = {};
  const extraArgs: Record<string, JsonValue> = {};
  const configOverrides: Record<string, JsonValue> = {};
  for (const [flag, value] of values) {
    const name = engineNameOf(flag);
    if (flag.startsWith("configOverrides.")) configOverrides[flag.slice("configOverrides.".length)] = value;
    else if (name === null) extraArgs[flag] = value;
    else engine[name] = ENGINE_FLAGS.get(name)?.kind === "list" && !Array.isArray(value) ? [value] : value;
  }
  return { engine, extraArgs, configOverrides };
}
