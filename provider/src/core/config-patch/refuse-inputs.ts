import { isSixteenBit } from "../model-config";
import type { JsonObject } from "../json";
import { isObject } from "./json-edit";
import type { PatchInput, PatchRejection } from "./patch-result";
import { KV_REQUEST_KEYS, QUANTIZATION_KEYS } from "./quantization-configs";

/** What is wrong with the inputs whatever the checkpoint holds; null: nothing. */
export function refuseInputs(input: PatchInput): PatchRejection | null {
  const misplaced = findQuantizationKey(input.configOverrides, "configOverrides");
  if (misplaced !== null) {
    const message = `Cannot apply ${misplaced}: quantization settings are changed by quantizationConfigOverrides, wherever they stand`;
    return { kind: "rejected", code: "quantization-config-in-config-overrides", message, path: misplaced };
  }
  if (!isSixteenBit(input.kvCacheDtype)) return null;
  const request = findKvRequest(input.quantizationConfigOverrides);
  if (request === null) return null;
  const message = `Cannot apply ${request}: it asks for a quantized KV cache and kvCacheDtype is "${input.kvCacheDtype}", need one wish`;
  return { kind: "rejected", code: "overrides-contradict-kv-cache-dtype", message, path: request };
}

function findQuantizationKey(overrides: JsonObject, path: string): string | null {
  for (const [name, value] of Object.entries(overrides)) {
    if (QUANTIZATION_KEYS.includes(name)) return `${path}.${name}`;
    const deeper = isObject(value) ? findQuantizationKey(value, `${path}.${name}`) : null;
    if (deeper !== null) return deeper;
  }
  return null;
}

function findKvRequest(overrides: JsonObject): string | null {
  const places: readonly (readonly [string, JsonObject])[] = [
    ["quantizationConfigOverrides", overrides],
    ...(isObject(overrides["quantization"])
      ? [["quantizationConfigOverrides.quantization", overrides["quantization"]] as const]
      : []),
  ];
  for (const [path, settings] of places) {
    const name = KV_REQUEST_KEYS.find((key) => settings[key] !== undefined && settings[key] !== null);
    if (name !== undefined) return `${path}.${name}`;
  }
  return null;
}
