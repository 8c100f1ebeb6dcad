import { isJsonList, isMembers } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { plainWord } from "./given-word";
import type { Launch } from "./launch";
import type { Notes } from "./note";
import { hostPathOf, isRelative, isRepository } from "./paths";

/** Flags that hold a path of the host -> the input. Others hold names. */
const PATHS: ReadonlySet<string> = new Set(["chatTemplate", "tokenizer", "hf-config-path", "loraModules"]);

export function withPaths(values: JsonObject, place: string, launch: Launch, notes: Notes): JsonObject {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      if (!PATHS.has(name)) return [[name, value]];
      const placed = pathIn(value, `${place}.${name}`, name, launch, notes);
      return placed === null ? [] : [[name, placed]];
    }),
  );
}

function pathIn(
  value: JsonValue,
  path: string,
  name: string,
  launch: Launch,
  notes: Notes,
): JsonValue | null {
  if (isJsonList(value))
    return value.map((each) => pathIn(each, path, name, launch, notes)).filter((each) => each !== null);
  const place = (text: string): string | null => hostPathOf(plainWord(text), path, launch, notes);
  if (name === "loraModules") return loraModuleIn(value, place);
  return typeof value === "string" && isPathLike(value, name) ? place(value) : value;
}

/** `name=path`, or an object with both. null: where it is is not known. */
function loraModuleIn(value: JsonValue, place: (text: string) => string | null): JsonValue | null {
  const [, lora = "", written] = typeof value === "string" ? (/^([^=]*)=(.*)$/s.exec(value) ?? []) : [];
  const folder = isMembers(value) ? value["path"] : written;
  if (typeof folder !== "string" || isRepository(folder)) return value;
  const mapped = place(folder);
  if (mapped === null) return null;
  return isMembers(value) ? { ...value, path: mapped } : `${lora}=${mapped}`;
}

/** A tokenizer and a config can be of a hub, a template can be the template itself. */
function isPathLike(text: string, name: string): boolean {
  if (name === "chatTemplate") return !/[{}\n]/.test(text);
  return !isRelative(text) || text.startsWith(".") || (!isRepository(text) && text.includes("/"));
}
