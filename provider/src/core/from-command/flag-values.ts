import { isJson } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { NEWEST_FLAGS } from "../vllm-flags-table";

/** Short names that people write. Source: vLLM 0.32.0 `vllm serve` parser. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ["-tp", "tensor-parallel-size"],
  ["-pp", "pipeline-parallel-size"],
  ["-dp", "data-parallel-size"],
  ["-dcp", "decode-context-parallel-size"],
  ["-ep", "enable-expert-parallel"],
  ["-q", "quantization"],
  ["-cc", "compilation-config"],
  ["-sc", "speculative-config"],
  ["-ac", "attention-config"],
]);

/** Words as they were given for one flag, and the flag's long name without dashes; `known`: 0.32 has it. */
export interface WrittenFlag {
  readonly flag: string;
  readonly known: boolean;
  /** Below the flag: `a.b` of `--flag.a.b`; empty: the flag itself. */
  readonly members: readonly string[];
  readonly values: readonly string[];
}

export interface WrittenFlags {
  readonly positionals: readonly string[];
  readonly flags: readonly WrittenFlag[];
}

/** Takes the words of `vllm serve` apart as its parser does. */
export function writtenFlags(words: readonly string[]): WrittenFlags {
  const positionals: string[] = [];
  const flags: WrittenFlag[] = [];
  for (let at = 0; at < words.length;) {
    const word = words[at] ?? "";
    at += 1;
    if (!/^-+[a-zA-Z]/.test(word)) {
      positionals.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const { flag, known, members } = nameOf(equals < 0 ? word : word.slice(0, equals));
    const values = equals < 0 ? [] : [word.slice(equals + 1)];
    for (let room = equals < 0 ? roomOf(flag, members) : 0; room > 0 && at < words.length; room -= 1) {
      const next = words[at] ?? "";
      if (/^-+[a-zA-Z]/.test(next)) break;
      values.push(next);
      at += 1;
    }
    flags.push({ flag, known, members, values });
  }
  return { positionals, flags };
}

function nameOf(written: string): Omit<WrittenFlag, "values"> {
  const [head = "", ...members] = written.split(".");
  const long = SHORT_NAMES.get(head) ?? head.replace(/^--/, "").replaceAll("_", "-");
  if (isKnown(long)) return { flag: long, known: true, members };
  const begun = [...NEWEST_FLAGS.keys()].filter((name) => name.startsWith(long));
  const [only] = begun;
  return begun.length === 1 && only !== undefined
    ? { flag: only, known: true, members }
    : { flag: long, known: false, members };
}

function isKnown(flag: string): boolean {
  return NEWEST_FLAGS.has(flag) || NEWEST_FLAGS.get(flag.replace(/^no-/, ""))?.kind === "bool";
}

/** How many words the flag takes at most. */
function roomOf(flag: string, members: readonly string[]): number {
  const kind = NEWEST_FLAGS.get(flag)?.kind;
  if (members.length > 0) return 1;
  if (kind === "list") return Number.POSITIVE_INFINITY;
  return kind === "bool" || kind === "flag" || (kind === undefined && isKnown(flag)) ? 0 : 1;
}

/** What the words of a flag say, by its kind; the flag itself is positive: `no-x` is x with false. */
export function valueOf(written: WrittenFlag): { readonly flag: string; readonly value: JsonValue } {
  const { flag, values, members } = written;
  const [text = ""] = values;
  if (members.length > 0) return { flag, value: nested(members, looseValue(text)) };
  const kind = NEWEST_FLAGS.get(flag)?.kind;
  if (kind === undefined && isKnown(flag)) return { flag: flag.slice("no-".length), value: false };
  if (kind === "bool" || kind === "flag" || values.length === 0) return { flag, value: true };
  if (kind === "list") return { flag, value: [...values] };
  if (kind === "int" || kind === "float") return { flag, value: plainNumber(text) };
  if (kind === "humanInt" || kind === "humanIntOrAuto")
    return { flag, value: text === "-1" ? "auto" : (humanInt(text) ?? text) };
  if (kind === "json") return { flag, value: json(text) ?? text };
  return { flag, value: text };
}

function nested(members: readonly string[], value: JsonValue): JsonValue {
  return members.reduceRight<JsonValue>((inner, member): JsonObject => ({ [member]: inner }), value);
}

function looseValue(text: string): JsonValue {
  return json(text) ?? humanInt(text) ?? text;
}

function plainNumber(text: string): JsonValue {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? text : number;
}

/** Source: vLLM 0.32.0 utils/argparse_utils.py human_readable_int: 16k is 16000, 16K is 16384. */
function humanInt(text: string): number | null {
  const [, digits, suffix = ""] = /^(\d+(?:\.\d+)?)([kmgtKMGT]?)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const power = suffix === "" ? 0 : "kmgt".indexOf(suffix.toLowerCase()) + 1;
  return Number(digits) * (suffix === suffix.toLowerCase() ? 1000 : 1024) ** power;
}

function json(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
