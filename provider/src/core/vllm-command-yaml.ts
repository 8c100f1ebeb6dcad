import { isJsonList } from "./input-json";
import type { JsonValue } from "./json";
import type { FlagKind } from "./vllm-flags-table";

/**
 * One flag as one line (or block) of the file. "" where it has to be left out.
 * vLLM turns each key into `--key`: true stands alone, a list becomes several words, anything else one. It drops false and [],
 * and it writes null as "None", so none of them is ever written. Source: vLLM 0.32.0 utils/argparse_utils.py load_config_file.
 */
export function yamlFlag(flag: string, value: JsonValue, kind: FlagKind): string {
  if (value === null) return "";
  if (typeof value === "boolean") return yamlBoolean(flag, value, kind);
  if (isJsonList(value)) return yamlList(flag, value, kind);
  return `${key(flag)}: ${typeof value === "object" ? quoted(JSON.stringify(value)) : scalar(value)}\n`;
}

function yamlBoolean(flag: string, value: boolean, kind: FlagKind): string {
  if (value) return `${key(flag)}: true\n`;
  return kind === "flag" ? "" : `${key(`no-${flag}`)}: true\n`;
}

function yamlList(flag: string, items: readonly JsonValue[], kind: FlagKind): string {
  switch (kind) {
    case "list":
    case "unknown":
      return items.length === 0
        ? ""
        : `${key(flag)}:\n${items.map((item) => `  - ${listItem(item)}\n`).join("")}`;
    case "commaList":
      return items.length === 0 ? "" : `${key(flag)}: ${quoted(items.map(String).join(","))}\n`;
    case "append":
      if (items.length === 1) return yamlFlag(flag, items[0] ?? null, kind);
      return `${key(flag)}: ${quoted(JSON.stringify(items))}\n`;
    case "json":
    case "bool":
    case "flag":
    case "int":
    case "float":
    case "string":
    case "enum":
    case "humanInt":
    case "humanIntOrAuto":
      // One word, whatever it is: a second one would be taken for the model.
      return `${key(flag)}: ${quoted(JSON.stringify(items))}\n`;
    default:
      return kind satisfies never;
  }
}

/** Names that YAML 1.1 would read as yes, no, null or a number. */
const READ_AS_ANOTHER_TYPE = /^(?:y|n|yes|no|on|off|true|false|null|[0-9].*)$/;

function key(flag: string): string {
  return READ_AS_ANOTHER_TYPE.test(flag) ? quoted(flag) : flag;
}

function listItem(item: JsonValue): string {
  return typeof item === "string" || typeof item === "number" ? scalar(item) : quoted(JSON.stringify(item));
}

function scalar(value: string | number | boolean): string {
  return typeof value === "number" ? yamlNumber(value) : quoted(String(value));
}

/** A number as YAML 1.1 reads it as a number: an exponent needs a point before it and a sign. */
function yamlNumber(value: number): string {
  const [mantissa = "", exponent] = String(value).split("e");
  if (exponent === undefined) return mantissa;
  const sign = exponent.startsWith("-") || exponent.startsWith("+") ? "" : "+";
  return `${mantissa}${mantissa.includes(".") ? "" : ".0"}e${sign}${exponent}`;
}

/** Double-quoted, pure ASCII: reads the same in every locale, and nothing in it can be taken for a date, a number or a yes. */
function quoted(text: string): string {
  let inner = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") inner += `\\${character}`;
    else if (character === "\n") inner += "\\n";
    else if (code >= 0x20 && code <= 0x7e) inner += character;
    else inner += code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  }
  return `"${inner}"`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
