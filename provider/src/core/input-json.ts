import type { InputPath } from "./input-path";
import type { JsonObject, JsonValue } from "./json";

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether a value can be written as JSON without loss. A member that is undefined counts as not there. */
export function isJson(value: unknown): value is JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every((item) => isJson(item));
  return isRecord(value) && Object.values(value).every((item) => item === undefined || isJson(item));
}

export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value) && isJson(value);
}

/** Where the values stand that make something no JSON. */
export function notJsonAt(value: unknown, path: InputPath = []): readonly InputPath[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => notJsonAt(item, [...path, index]));
  if (!isRecord(value)) return isJson(value) ? [] : [path];
  return Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : notJsonAt(item, [...path, key]),
  );
}

/** The same without members that are undefined, at any depth. */
export function withoutUndefined(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.map((item) => withoutUndefined(item));
  if (typeof value !== "object" || value === null) return value;
  return withoutUndefinedMembers(value);
}

export function withoutUndefinedMembers(value: JsonObject): JsonObject {
  const entries = Object.entries<JsonValue | undefined>(value);
  return Object.fromEntries(
    entries.flatMap(([key, item]) => (item === undefined ? [] : [[key, withoutUndefined(item)] as const])),
  );
}

/** Array.isArray that keeps the type of a readonly list. */
export function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The object among JSON values. */
export function isMembers(value: JsonValue | undefined): value is JsonObject {
  return isRecord(value);
}
