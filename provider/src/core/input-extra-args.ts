import { z } from "zod";
import { engineNameOf } from "./engine-flags";
import { isJson, isJsonList, isRecord, withoutUndefined } from "./input-json";
import { isInteger, isText } from "./input-leaf";
import { kebabCase } from "./input-names";
import { insteadOfFlag } from "./input-owned-flags";
import { formatPath } from "./input-path";
import { ABOUT_NAME } from "./input-problem";
import type { JsonObject, JsonValue } from "./json";
import { NEWEST_FLAGS } from "./vllm-flags-table";

/** `extraArgs`: any other flag of vLLM. Names are not checked against a version here, only how they are written. */
export const extraArgsSchema: z.ZodType<JsonObject> = z.unknown().transform((value, context) => {
  if (!isRecord(value)) {
    context.addIssue({ code: "custom", message: 'an object of flags such as { "stream-interval": 4 }' });
    return z.NEVER;
  }
  const read: [string, JsonValue][] = [];
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const wantedFlag = wantedName(name);
    const wanted = wantedFlag ?? wantedValue(name, given);
    const params = wantedFlag === null ? {} : ABOUT_NAME;
    if (wanted !== null) context.addIssue({ code: "custom", path: [name], message: wanted, params });
    else if (isJson(given)) read.push([name, withoutUndefined(given)]);
  }
  return Object.fromEntries(read);
});

const LONG_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Short names, which a file cannot give. Those of typed flags stand with them. Source: vLLM 0.32.0 parser. */
const SHORT_NAMES: readonly { readonly name: RegExp; readonly flag: string }[] = [
  { name: /^O\d?$/, flag: "optimization-level" },
  { name: /^dcp$/, flag: "decode-context-parallel-size" },
  { name: /^pcp$/, flag: "prefill-context-parallel-size" },
  { name: /^ac$/, flag: "attention-config" },
  { name: /^dc$/, flag: "diffusion-config" },
  { name: /^asc$/, flag: "api-server-count" },
  { name: /^n$/, flag: "nnodes" },
  { name: /^r$/, flag: "node-rank" },
];

function wantedName(name: string): string | null {
  const flag = kebabCase(name);
  const typed = engineNameOf(flag);
  if (typed !== null) return `engine.${typed}`;
  const instead = insteadOfFlag(flag);
  if (instead !== null) return instead;
  const short = SHORT_NAMES.find((row) => row.name.test(name.replace(/^-/, "")));
  if (short !== undefined) return insteadOfFlag(short.flag) ?? formatPath(["extraArgs", short.flag]);
  const positive = flag.slice("no-".length);
  if (flag.startsWith("no-") && positive !== "") {
    const input = engineNameOf(positive);
    if (input !== null) return `engine.${input}: false`;
    return insteadOfFlag(positive) ?? `${formatPath(["extraArgs", positive])}: false`;
  }
  if (/^-*[^.]+\./.test(name))
    return `one object at ${formatPath(["extraArgs", kebabCase(name.slice(0, name.indexOf(".")))])}`;
  if (name !== flag && LONG_NAME.test(flag))
    return `the name ${JSON.stringify(flag)}: vLLM's long name, with dashes but none in front`;
  return LONG_NAME.test(name) ? null : "vLLM's long name: small letters, digits and dashes";
}

/** What vLLM's argument parser would lose, misread or take for another option. Source: vLLM 0.32 utils/argparse_utils.py. */
function wantedValue(name: string, value: unknown): string | null {
  if (value === null) return "a value; to leave a flag out, leave its key out";
  if (!isJson(value)) return "a number, text, true, false, a list or an object of plain JSON values";
  if (name === "shutdown-timeout") {
    return isInteger(value, 1) ? null : "whole seconds of at least 1: with 0 vLLM kills its own processes";
  }
  if (name === "api-server-count") {
    return isInteger(value, 1) ? null : "a whole number of at least 1: with 0 vLLM serves no requests";
  }
  if (typeof value === "boolean") return null;
  if (!isJsonList(value)) return typeof value === "object" ? null : unmetByWord(value);
  if (value.length === 0) return "at least one item: vLLM drops an empty list";
  if (NEWEST_FLAGS.get(name)?.kind === "json") return null;
  for (const item of value) {
    if (item === null || typeof item === "boolean" || isJsonList(item))
      return "items that are text, numbers or objects";
    const unmet = typeof item === "object" ? null : unmetByWord(item);
    if (unmet !== null) return unmet;
  }
  return null;
}

function unmetByWord(value: string | number): string | null {
  if (typeof value === "string") {
    if (!isText(value)) return "text without NUL and half surrogates";
    return !value.startsWith("-") || value === "-" || /^-\d+$/.test(value)
      ? null
      : 'text that does not begin with "-": vLLM takes it for an option';
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return "a number that is exact: at most 2^53 - 1";
  return value < 0 && !Number.isInteger(value)
    ? "no negative fraction: vLLM takes it for an option with a dot"
    : null;
}
