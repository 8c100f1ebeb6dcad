import { isRecord } from "./input-json";
import { formatPath, type InputPath } from "./input-path";

/** What Pulumi sends in a preview for a value that it does not know yet. Source: @pulumi/pulumi 3.276 runtime/rpc.ts `unknownValue`. */
export const UNKNOWN_VALUE = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export interface WithoutUnknowns {
  /** The same value without what is unknown; a list with an unknown item is left out whole. undefined: all of it is unknown. */
  readonly known: unknown;
  /** Where the unknown values stand; "" = the whole value. */
  readonly unknowns: readonly string[];
}

/** Takes unknown values out, wherever they stand, so that the rest can be judged. */
export function withoutUnknowns(value: unknown, path: InputPath = []): WithoutUnknowns {
  if (value === UNKNOWN_VALUE) return { known: undefined, unknowns: [formatPath(path)] };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => withoutUnknowns(item, [...path, index]));
    const unknowns = items.flatMap((item) => item.unknowns);
    return { known: unknowns.length === 0 ? value : undefined, unknowns };
  }
  if (!isRecord(value)) return { known: value, unknowns: [] };
  const entries = Object.entries(value).map(([key, inner]) => ({
    key,
    ...withoutUnknowns(inner, [...path, key]),
  }));
  const kept = entries
    .filter((entry) => entry.known !== undefined)
    .map((entry) => [entry.key, entry.known] as const);
  return { known: Object.fromEntries(kept), unknowns: entries.flatMap((entry) => entry.unknowns) };
}
