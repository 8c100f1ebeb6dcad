import type { JsonObject } from "../json";
import { isObject } from "./json-edit";
import type { PatchRejection } from "./patch-result";
import { QUANTIZATION_KEYS } from "./quantization-configs";

/** What is wrong with configOverrides whatever the checkpoint holds; null: nothing. */
export function refuseConfigOverrides(configOverrides: JsonObject): PatchRejection | null {
  const path = misplacedQuantization(configOverrides);
  if (path === null) return null;
  const message = `Cannot apply ${path}: quantization settings are changed by quantizationConfigOverrides, wherever they stand`;
  return { kind: "rejected", code: "quantization-config-in-config-overrides", message, path };
}

/** Input path of a quantization config, at any depth of configOverrides; null: there is none. */
export function misplacedQuantization(overrides: JsonObject, path = "configOverrides"): string | null {
  for (const [name, value] of Object.entries(overrides)) {
    if (QUANTIZATION_KEYS.includes(name)) return `${path}.${name}`;
    const deeper = isObject(value) ? misplacedQuantization(value, `${path}.${name}`) : null;
    if (deeper !== null) return deeper;
  }
  return null;
}
