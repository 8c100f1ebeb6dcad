import { ENGINE_FLAGS, engineNameOf } from "../engine-flags";
import { isJson } from "../input-json";
import type { InputPath } from "../input-path";
import type { JsonValue } from "../json";

/** Flags that are said by an input of another name, or by none. */
const PLACES: ReadonlyMap<string, InputPath> = new Map<string, InputPath>([
  ["host", ["listen", "address"]],
  ["port", ["listen", "port"]],
  ["kv-cache-dtype", ["kvCacheDtype"]],
  ["api-key", ["apiKey"]],
  ["model", ["model", "path"]],
  ["fingerprint-mode", ["configHash"]],
  ["fingerprint-value", ["configHash"]],
]);

/** The property that says a flag of vLLM: `max-model-len` -> engine.maxModelLen, `stream-interval` -> extraArgs["stream-interval"]. */
export function placeOfFlag(flag: string): InputPath {
  const place = PLACES.get(flag);
  if (place !== undefined) return place;
  const name = engineNameOf(flag);
  return name === null ? ["extraArgs", flag] : ["engine", name];
}

/** The flag and its value as an input has them: `no-x: true` is x: false, JSON text of a flag that takes JSON is what it says. */
export function asInput(flag: string, value: JsonValue): readonly [string, JsonValue] {
  if (flag.startsWith("no-") && value === true) return [flag.slice(3), false];
  const name = engineNameOf(flag);
  const isJson = name !== null && ENGINE_FLAGS.get(name)?.kind === "json";
  return [flag, isJson && typeof value === "string" ? parsed(value) : value];
}

function parsed(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : text;
  } catch {
    return text;
  }
}
