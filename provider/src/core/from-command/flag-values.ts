import type { GivenWord } from "./given-word";
import { isJson, isMembers } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { type Notes, Rejected } from "./note";
import type { WrittenFlag } from "./written-flags";

/** What the words of a flag say, by its kind. Fails with Rejected bad-json. */
export function valueOf(written: WrittenFlag, notes: Notes): JsonValue {
  const { flag, values, members, row, isElement } = written;
  const [word] = values;
  const text = word?.text ?? "";
  if (members.length > 0) {
    const value = isElement ? text.split(",") : looseValue(text);
    return members.reduceRight<JsonValue>((inner, member): JsonObject => ({ [member]: inner }), value);
  }
  switch (row?.kind) {
    case "bool":
    case "flag":
      return switched(written, notes);
    case "list":
      return values.map((each) => itemOf(each, row.item));
    case "int":
    case "float":
      return number(text);
    case "humanInt":
      return humanInt(text) ?? text;
    case "humanIntOrAuto":
      return text === "-1" || text.toLowerCase() === "auto" ? "auto" : (humanInt(text) ?? text);
    case "enum":
      return row.choices?.every((choice) => /^\d+$/.test(choice)) === true ? number(text) : text;
    case "json":
      return word === undefined ? true : jsonOf(flag, word, row.orText === true, notes);
    case undefined:
      return word === undefined ? true : text;
    default:
      return text;
  }
}

function itemOf({ text, typed }: GivenWord, kind: "int" | "json" | undefined): JsonValue {
  if (kind === "int") return number(text);
  // The shell takes the quotes away where nothing is around them.
  return kind === "json" ? (object(text) ?? object(typed) ?? text) : text;
}

function switched({ flag, values }: WrittenFlag, notes: Notes): JsonValue {
  const isNegative = flag.startsWith("no-");
  const [word] = values;
  if (word === undefined) return !isNegative;
  notes.add("repaired", `--${flag}`, `written with the value ${word.text}, which vLLM refuses`);
  return (word.text.toLowerCase() !== "false") !== isNegative;
}

function jsonOf(flag: string, word: GivenWord, mayBeText: boolean, notes: Notes): JsonValue {
  const value = json(word.text);
  if (value !== undefined) return value;
  const counts = countsIn(word.text);
  if (counts !== null) {
    notes.add("old-value-form", `--${flag}`, "the name=count form is gone; written as an object");
    return counts;
  }
  const literal = json(fromPython(word.text));
  if (literal !== undefined) {
    notes.add("repaired", `--${flag}`, "written as a Python literal, which vLLM refuses; turned into JSON");
    return literal;
  }
  // The shell takes the quotes away where nothing is around them.
  const typed = json(word.typed.replace(/^[^{[]*=/, ""));
  if (typed !== undefined) {
    notes.add("repaired", `--${flag}`, "without quotes around it a shell takes those inside away");
    return typed;
  }
  if (mayBeText) return word.text;
  throw new Rejected("bad-json", `--${flag}`, "neither JSON nor a literal of Python");
}

/** `image=4,video=0`. */
function countsIn(text: string): JsonObject | null {
  if (!/^\w+=\d+(?:,\w+=\d+)*$/.test(text)) return null;
  return Object.fromEntries(
    text.split(",").map((part) => [part.replace(/=.*/, ""), Number(part.replace(/.*=/, ""))]),
  );
}

/** `{'a': True, "b": None, 'c': (1, 2,)}` as JSON; what is none of Python's stays as it is. */
function fromPython(text: string): string {
  const words: Readonly<Record<string, string>> = {
    True: "true",
    False: "false",
    None: "null",
    "(": "[",
    ")": "]",
  };
  return text.replace(
    /"(?:[^"\\]|\\.)*"|'((?:[^'\\]|\\.)*)'|\b(?:True|False|None)\b|[()]|,(?=\s*[}\])])/g,
    (found, inside: string | undefined) => {
      if (inside !== undefined) return JSON.stringify(inside.replace(/\\'/g, "'"));
      if (found.startsWith('"')) return found;
      return found === "," ? "" : (words[found] ?? found);
    },
  );
}

/** A value behind `--flag.member`. Source: vLLM 0.32.0 utils/argparse_utils.py parse_args. */
function looseValue(text: string): JsonValue {
  return json(text) ?? humanInt(text) ?? text;
}

function number(text: string): JsonValue {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? text : value;
}

/** Source: vLLM 0.32.0 utils/argparse_utils.py human_readable_int: 16k is 16000, 16K is 16384. */
function humanInt(text: string): number | null {
  const [, digits, suffix = ""] = /^\s*(\d+(?:\.\d+)?)([kmgtKMGT]?)\s*$/.exec(text) ?? [];
  if (digits === undefined || (suffix === "" && digits.includes("."))) return null;
  const isDecimal = suffix === suffix.toLowerCase();
  if (!isDecimal && digits.includes(".")) return null;
  const power = suffix === "" ? 0 : "kmgt".indexOf(suffix.toLowerCase()) + 1;
  return Math.trunc(Number(digits) * (isDecimal ? 1000 : 1024) ** power);
}

function object(text: string): JsonObject | null {
  const value = json(text);
  return isMembers(value) ? value : null;
}

function json(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
