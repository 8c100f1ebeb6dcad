import { type InputPath, isSecretPath } from "../input-path";
import { isJsonList, isMembers } from "../input-json";
import type { JsonObject, JsonValue } from "../json";
import { holdsCredentials } from "../url-credentials";
import { dottedPath } from "./dotted-path";
import { SECRET, tellSecret } from "./environment-inputs";
import { plainWord } from "./given-word";
import type { Notes } from "./note";

/** Secrets that stand in the middle of something else: the key of a connector, the password of a URL. */
export function hideSecrets(
  values: JsonObject,
  place: string,
  notes: Notes,
): { readonly values: JsonObject; readonly secrets: readonly string[] } {
  const secrets: string[] = [];
  const hidden = (value: JsonValue, path: InputPath): JsonValue => {
    if (typeof value === "string") {
      if (value === "" || !(isSecretPath(path) || holdsCredentials(value))) return value;
      const where = dottedPath(path);
      secrets.push(where);
      tellSecret(where, plainWord(value), where, notes);
      return SECRET;
    }
    if (isJsonList(value)) return value.map((each, index) => hidden(each, [...path, index]));
    return isMembers(value) ? members(value, path) : value;
  };
  const members = (value: JsonObject, path: InputPath): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hidden(each, [...path, name])]));
  return { values: members(values, [place]), secrets };
}
