import { isMembers } from "../input-json";
import type { JsonObject } from "../json";

/** What a server may be called in a program: by what clients call its model, else by the model itself. */
export function resourceName({ engine, model }: JsonObject): string {
  const served = isMembers(engine) ? engine["servedModelName"] : undefined;
  const [first] = Array.isArray(served) ? (served as readonly unknown[]) : [];
  const named = isMembers(model) ? (model["repo"] ?? model["path"]) : undefined;
  // A path that clients know a model by says less than the folder on the host.
  const isName = typeof first === "string" && !/^[~./]/.test(first);
  const text = isName ? first : named;
  const last = (typeof text === "string" ? text : "").replace(/\/+$/, "").replace(/^.*\//, "");
  const name = last
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return name === "" ? "llm" : name;
}
