import type { z } from "zod";
import { isRecord } from "./input-json";

/** Members of an object that comes in two kinds, of which one excludes the other. */
export interface Kinds {
  /** The member that makes it one of the first kind, and those that only the second takes. */
  readonly first: string;
  readonly second: readonly string[];
  /** Of these, the one without which it is not of the second kind; null: any of them makes it so. */
  readonly needed: string | null;
}

/** What is wanted instead of such a mix of members; null: it is one of the two kinds. What is wrong with each by itself is the schema's. */
export function wantedKind(value: unknown, { first, second, needed }: Kinds): string | null {
  if (!isRecord(value)) return null;
  const isGiven = (name: string): boolean => value[name] !== undefined && value[name] !== null;
  const given = second.filter(isGiven);
  const leading = needed === null ? given[0] : given.find((name) => name === needed);
  if (isGiven(first) && leading !== undefined)
    return `either ${first} or ${leading}, here ${[first, ...given].join(", ")}`;
  if (isGiven(first) && given.length > 0)
    return `${first} alone: ${given.join(", ")} ${given.length === 1 ? "is" : "are"} of ${String(needed)}`;
  return isGiven(first) || needed === null || leading !== undefined ? null : `${first} or ${needed}`;
}

/**
 * The value as a schema takes it, else null and its issues, in a transform around that schema.
 * @param wanted of the value as a whole; null: the schema alone judges.
 */
export function parsedInside<T>(
  schema: z.ZodType<T>,
  value: unknown,
  context: z.RefinementCtx,
  wanted: string | null = null,
): T | null {
  const result = schema.safeParse(value);
  if (wanted !== null) context.issues.push({ code: "custom", path: [], message: wanted, input: undefined });
  else if (result.success) return result.data;
  for (const { path, message, ...issue } of result.error?.issues ?? []) {
    if (issue.code === "unrecognized_keys")
      context.issues.push({ code: issue.code, keys: issue.keys, path, input: undefined });
    else context.issues.push({ code: "custom", path, message, input: undefined });
  }
  return null;
}
