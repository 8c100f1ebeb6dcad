import { engineNameOf, ENGINE_FLAGS } from "./engine-flags";
import { isJsonList } from "./input-json";
import { nearestName } from "./input-names";
import { insteadOfFlag } from "./input-owned-flags";
import { formatPath } from "./input-path";
import { ruleProblem, type Problem } from "./input-problem";
import type { JsonValue } from "./json";
import type { Spec } from "./spec";
import type { FlagRow, FlagTable } from "./vllm-flags-table";
import { REMOVED_FLAGS } from "./vllm-flags-removed";

/** A flag that was given and that the installed vLLM does not take. */
export interface UnknownFlag {
  /** Input path: `engine.asyncScheduling`, `extraArgs["swap-space"]`. */
  readonly path: string;
  /** Long name without dashes in front. */
  readonly flag: string;
  /** What became of it, or the nearest one that is known. */
  readonly note: string;
}

/** @param known long flags of the installed version, with or without dashes in front. */
export function unknownFlags(spec: Spec, known: ReadonlySet<string>): readonly UnknownFlag[] {
  const names = new Set([...known].map((name) => name.replace(/^-+/, "")));
  const tellsNegatives = [...names].some((name) => name.startsWith("no-"));
  return givenFlags(spec).flatMap(({ path, flag, value }) => {
    if (!names.has(flag)) return [{ path, flag, note: noteOn(flag, names) }];
    if (value !== false || !tellsNegatives || names.has(`no-${flag}`)) return [];
    return [{ path, flag: `no-${flag}`, note: "it cannot be turned off, leave it out" }];
  });
}

function noteOn(flag: string, known: ReadonlySet<string>): string {
  const removed = REMOVED_FLAGS.find((row) => row.flag === flag);
  if (removed !== undefined) {
    return `removed in vLLM ${removed.since}${removed.instead === null ? "" : `; use ${removed.instead}`}`;
  }
  const nearest = nearestName(flag, known);
  if (nearest === null) return "this version has no flag of a similar name";
  const input = engineNameOf(nearest);
  if (input !== null) return `did you mean engine.${input}?`;
  const instead = insteadOfFlag(nearest);
  if (instead !== null) return `if --${nearest} was meant: ${instead}`;
  return `did you mean ${formatPath(["extraArgs", nearest])}?`;
}

interface GivenFlag {
  readonly path: string;
  readonly flag: string;
  readonly value: JsonValue;
}

/** All flags of a spec that came from the user, in the order of their inputs. */
function givenFlags(spec: Spec): readonly GivenFlag[] {
  const typed = Object.entries(spec.engine).flatMap(([name, value]) => {
    const row = ENGINE_FLAGS.get(name);
    return row === undefined ? [] : [{ path: `engine.${name}`, flag: row.flag, value }];
  });
  const extra = Object.entries(spec.extraArgs).map(([flag, value]) => ({
    path: formatPath(["extraArgs", flag]),
    flag,
    value,
  }));
  return [...typed, ...extra];
}

/** Values that this version's parser would refuse: a list for a scalar, a word that is no choice. Saves the 14 s that asking vLLM costs. */
export function unsuitableValues(spec: Spec, table: FlagTable): readonly Problem[] {
  return givenFlags(spec).flatMap(({ path, flag, value }) => {
    const row = table.get(flag);
    const wanted = row === undefined ? null : unmetBy(value, row);
    return wanted === null ? [] : [ruleProblem(path, JSON.stringify(value), wanted)];
  });
}

function unmetBy(value: JsonValue, row: FlagRow): string | null {
  const isScalar = typeof value === "string" || typeof value === "number";
  switch (row.kind) {
    case "bool":
    case "flag":
      return typeof value === "boolean" ? null : "true or false";
    case "int":
      return Number.isSafeInteger(value) || isWholeText(value) ? null : "a whole number";
    case "float":
      return typeof value === "number" ? null : "a number";
    case "humanInt":
    case "humanIntOrAuto":
      return isScalar ? null : "a whole number";
    case "enum":
      return isScalar && (row.choices ?? []).includes(String(value))
        ? null
        : `one of ${(row.choices ?? []).join(", ")}`;
    case "string":
      return typeof value === "boolean" ? "text" : null;
    case "list":
      return isJsonList(value) ? unmetItems(value, row) : isScalar ? null : "a list";
    case "append":
      return isScalar || (isJsonList(value) && value.length === 1)
        ? null
        : "one item: a file can give this flag only once";
    case "commaList":
      return isScalar || isJsonList(value) ? null : "a list";
    case "json":
      return typeof value === "boolean" || typeof value === "number" ? "an object" : null;
    case "unknown":
      return null;
    default:
      return row.kind satisfies never;
  }
}

function unmetItems(items: readonly JsonValue[], { choices }: FlagRow): string | null {
  const isEachKnown =
    choices === undefined || items.every((item) => typeof item === "string" && choices.includes(item));
  return isEachKnown ? null : `items of ${choices.join(", ")}`;
}

function isWholeText(value: JsonValue): boolean {
  return typeof value === "string" && /^-?\d+$/.test(value);
}
