import { givenFlags } from "./given-flags";
import { isJson, isJsonList, isMembers } from "./input-json";
import { nearestName } from "./input-names";
import { problemAt, type Problem } from "./input-problem";
import type { JsonObject, JsonValue } from "./json";
import type { Spec } from "./spec";
import type { FlagRow, FlagTable } from "./vllm-flags-table";

/**
 * Values that this version's parser would refuse, or would take as something else: a list for a scalar, a word that is no choice,
 * a member that a config does not have. Told before anything is stopped, and without the 14 s that asking vLLM costs.
 */
export function unsuitableValues(spec: Spec, table: FlagTable): readonly Problem[] {
  return givenFlags(spec).flatMap(({ inputPath, flag, value }) => {
    const row = table.get(flag);
    const wanted = row === undefined ? null : unmetBy(value, row);
    return wanted === null ? [] : [problemAt(inputPath, value, wanted)];
  });
}

function unmetBy(value: JsonValue, row: FlagRow): string | null {
  switch (row.kind) {
    case "bool":
    case "flag":
      return typeof value === "boolean" ? null : "true or false";
    case "int":
      return isWhole(value) ? null : "a whole number";
    case "float":
      return typeof value === "number" ? null : "a number";
    case "humanInt":
      return isHumanInt(value) ? null : "a whole number, or one such as 16k (16000) or 16K (16384)";
    case "humanIntOrAuto":
      return value === "auto" || isHumanInt(value) ? null : 'a whole number or "auto"';
    case "enum":
      return unmetChoice(value, row.choices ?? []);
    case "string":
      return isScalar(value) ? null : "text";
    case "list":
      return unmetItems(isJsonList(value) ? value : [value], row);
    case "append": {
      const items = isJsonList(value) ? value : [value];
      return items.length === 1 && items.every(isScalar)
        ? null
        : "one item: a file can give this flag only once";
    }
    case "commaList":
      return isScalar(value) || (isJsonList(value) && value.every(isScalar)) ? null : "a list";
    case "json":
      return typeof value === "string" ? unmetText(value, row) : unmetJson(value, row);
    case "unknown":
      return null;
    default:
      return row.kind satisfies never;
  }
}

function unmetItems(items: readonly JsonValue[], row: FlagRow): string | null {
  if (row.choices !== undefined)
    return items.every((item) => unmetChoice(item, row.choices ?? []) === null)
      ? null
      : `items of ${row.choices.join(", ")}`;
  if (row.item === "int") return items.every(isWhole) ? null : "whole numbers";
  if (row.item === "json") return items.every((item) => isScalar(item) || isMembers(item)) ? null : "a list";
  return items.every(isScalar) ? null : "a list of texts";
}

function unmetChoice(value: JsonValue, choices: readonly string[]): string | null {
  return isScalar(value) && choices.includes(String(value)) ? null : `one of ${choices.join(", ")}`;
}

function unmetJson(value: JsonValue, row: FlagRow): string | null {
  if (row.shape === "list") return isJsonList(value) && value.every(isScalar) ? null : "a list of texts";
  if (!isMembers(value)) return "an object";
  if (row.keys === undefined) return null;
  const written = row.judged === "start" ? withUnderscores(value) : value;
  const unknown = unmetKeys(written, row.keys, "");
  if (unknown !== null) return unknown;
  for (const [name, keys] of Object.entries(row.members ?? {})) {
    const member = value[name];
    const inside = isMembers(member) ? unmetKeys(member, keys, `${name}.`) : null;
    if (inside !== null) return inside;
  }
  return null;
}

/** Source: vLLM 0.32.0 engine/arg_utils.py create_speculative_config. */
function withUnderscores(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.replaceAll("-", "_"), each]));
}

/** @param place in front of the name: `pass_config.`. */
function unmetKeys(value: JsonObject, keys: readonly string[], place: string): string | null {
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown === undefined) return null;
  const nearest = nearestName(unknown, keys);
  const known = nearest === null ? `it knows ${keys.join(", ")}` : `did you mean ${nearest}?`;
  return `no member ${JSON.stringify(`${place}${unknown}`)} (${known})`;
}

/** JSON that was written as text. vLLM reads numbers such as 80m in the text of its config classes. */
function unmetText(text: string, row: FlagRow): string | null {
  if (row.orText === true) return null;
  const parsed = parsedJson(row.keys === undefined ? text : withPlainNumbers(text));
  if (parsed !== undefined) return unmetJson(parsed, row);
  return row.shape === "list" ? "a list of texts" : "an object, or its JSON text";
}

/** Source: vLLM 0.32.0 engine/arg_utils.py _expand_json_human_readable_numbers. */
function withPlainNumbers(text: string): string {
  return text.replace(
    /("(?:[^"\\]|\\.)*")|\b\d+(?:\.\d+)?[kKmMgGtT]\b/g,
    (_, quoted: string | undefined) => quoted ?? "0",
  );
}

function parsedJson(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isScalar(value: JsonValue): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function isWhole(value: JsonValue): boolean {
  return Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value));
}

/** Source: vLLM 0.32.0 utils/argparse_utils.py human_readable_int: no fraction before a binary suffix. */
function isHumanInt(value: JsonValue): boolean {
  return isWhole(value) || (typeof value === "string" && /^(?:\d+(?:\.\d+)?[kmgt]|\d+[KMGT])$/.test(value));
}
