import { stringify } from "yaml";
import { isJsonList, isMembers } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { SECRET } from "./environment-inputs";
import type { ProgramOptions } from "./program-text";

/** An entry of `servers:` in a stack's config, without its secrets. */
export function configEntry(inputs: JsonObject, { name, host }: ProgramOptions): string {
  const plain = Object.entries(withoutSecrets(inputs)).filter(
    ([key, value]) => key === "model" || !(isMembers(value) && Object.keys(value).length === 0),
  );
  const entry = { ...(host === null ? {} : { host }), ...Object.fromEntries(plain) };
  return stringify({ [name]: entry }, { lineWidth: 0, flowCollectionPadding: true });
}

function withoutSecrets(value: JsonObject): JsonObject {
  const entries = Object.entries(value).filter(([, each]) => each !== SECRET);
  return Object.fromEntries(entries.map(([name, each]) => [name, plainOf(each)]));
}

function plainOf(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.filter((each) => each !== SECRET).map((each) => plainOf(each));
  return isMembers(value) ? withoutSecrets(value) : value;
}
