import type { JsonObject, JsonValue } from "../json";
import { isSixteenBit } from "../model-config";
import { isObject } from "./json-edit";
import type { PatchInput, PatchRejection } from "./patch-result";
import { KV_REQUEST_KEYS, QUANTIZATION_KEYS } from "./quantization-configs";

/** What is wrong with a wish whatever the checkpoint holds; null: nothing. */
export function refuseWish(input: PatchInput): PatchRejection | null {
  const misplaced = misplacedQuantization(input.configOverrides);
  if (misplaced !== null) {
    const message = `Cannot apply ${misplaced}: quantization settings are changed by quantizationConfigOverrides, wherever they stand`;
    return {
      kind: "rejected",
      code: "quantization-config-in-config-overrides",
      message,
      path: misplaced,
    };
  }
  const request = isSixteenBit(input.kvCacheDtype)
    ? requestInOverrides(input.quantizationConfigOverrides)
    : null;
  if (request === null) return null;
  const message = `Cannot apply ${request}: it asks for a quantized KV cache and kvCacheDtype asks for ${input.kvCacheDtype}, need one of them`;
  return { kind: "rejected", code: "overrides-contradict-kv-cache-dtype", message, path: request };
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

/** Input path of a request for a quantized KV cache, where it would stand in a quantization config; null: there is none. */
export function requestInOverrides(
  overrides: JsonObject,
  path = "quantizationConfigOverrides",
): string | null {
  for (const [name, value] of Object.entries(overrides)) {
    if (KV_REQUEST_KEYS.includes(name) && isRequest(value)) return `${path}.${name}`;
    const isInner = name === "quantization" || QUANTIZATION_KEYS.includes(name);
    const deeper = isInner && isObject(value) ? requestInOverrides(value, `${path}.${name}`) : null;
    if (deeper !== null) return deeper;
  }
  return null;
}

/** Source: vllm 0.32.0 utils/torch_utils.py:470, which takes what is false in Python for no request. */
function isRequest(value: JsonValue): boolean {
  return value !== null && value !== "" && value !== false;
}
