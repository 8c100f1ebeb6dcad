import { z } from "zod";
import { engineNameOf, ENGINE_FLAGS } from "./engine-flags";
import { isJsonObject, isRecord, notJsonAt, withoutUndefined } from "./input-json";
import { kebabCase, nearestName } from "./input-names";
import { insteadOfFlag } from "./input-owned-flags";
import { formatPath } from "./input-path";
import { ABOUT_NAME } from "./input-problem";
import type { JsonObject, JsonValue } from "./json";
import type { EngineSpec } from "./spec";
import { NEWEST_FLAGS } from "./vllm-flags-table";

/** `engine`: typed flags only; every wrong member is told. null and undefined members are not given. */
export const engineSchema: z.ZodType<EngineSpec> = z.unknown().transform((value, context) => {
  if (!isRecord(value)) {
    context.addIssue({ code: "custom", message: "an object of flags such as { maxModelLen: 8192 }" });
    return z.NEVER;
  }
  const read: [string, JsonValue][] = [];
  for (const [name, given] of Object.entries(value)) {
    const row = ENGINE_FLAGS.get(name);
    if (row === undefined) {
      context.addIssue({ code: "custom", path: [name], message: wantedInstead(name), params: ABOUT_NAME });
    } else if (given !== null && given !== undefined) {
      const result = row.schema.safeParse(given);
      if (result.success) read.push([name, withoutUndefined(result.data)]);
      else context.addIssue({ code: "custom", path: [name], message: result.error.issues[0]?.message ?? "" });
    }
  }
  return Object.fromEntries(read);
});

/** Where a member that `engine` does not have belongs. */
function wantedInstead(name: string): string {
  const flag = kebabCase(name);
  const typed = engineNameOf(flag);
  if (typed !== null) return `the name ${typed}`;
  const instead = insteadOfFlag(flag);
  if (instead !== null) return instead;
  if (NEWEST_FLAGS.has(flag)) return formatPath(["extraArgs", flag]);
  const nearest = nearestName(name, ENGINE_FLAGS.keys());
  const hint = nearest === null ? "" : ` (did you mean ${nearest}?)`;
  return `one of engine's ${String(ENGINE_FLAGS.size)} flags${hint}; any other flag goes to ${formatPath(["extraArgs", flag])}`;
}

export const jsonObjectSchema: z.ZodType<JsonObject> = z.unknown().transform((value, context) => {
  if (isJsonObject(value)) return value;
  const places = isRecord(value) ? notJsonAt(value) : [[]];
  const message = isRecord(value) ? "plain JSON" : "an object of plain JSON values";
  for (const path of places) context.addIssue({ code: "custom", path: [...path], message });
  return z.NEVER;
});
