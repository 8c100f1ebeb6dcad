import type { Node } from "jsonc-parser";
import { escapePointer } from "./json-edit";
import { memberOf, membersOf } from "./json-text";
import { KV_REQUEST_KEYS } from "./kv-request-places";

/** A place of a file, by node and by JSON pointer. */
export interface Place {
  readonly node: Node;
  readonly pointer: string;
}

/** Keys of config.json that hold a quantization config. Source: vllm 0.32.0 transformers_utils/config.py:890. */
export const QUANTIZATION_KEYS: readonly string[] = ["quantization_config", "compression_config"];

export { KV_REQUEST_KEYS } from "./kv-request-places";

/** Every quantization config of a file, in the order of the file. */
export function quantizationConfigsOf(fileName: string, root: Node): readonly Place[] {
  return fileName === "config.json"
    ? configsInside({ node: root, pointer: "" })
    : [{ node: root, pointer: "" }];
}

function configsInside(place: Place): readonly Place[] {
  return membersOf(place.node).flatMap(({ name, value }) => {
    if (value.type !== "object") return [];
    const inner = { node: value, pointer: `${place.pointer}/${escapePointer(name)}` };
    // A quantization config is a `*_config` object too: early compressed-tensors files nest one in another.
    return [
      ...(QUANTIZATION_KEYS.includes(name) ? [inner] : []),
      ...(name.endsWith("_config") ? configsInside(inner) : []),
    ];
  });
}

/** Where the settings of a quantization config stand: its inner `quantization` object (ModelOpt's first form), else itself. */
export function settingsOf(config: Place): Place {
  const inner = memberOf(config.node, "quantization");
  return inner?.type === "object" ? { node: inner, pointer: `${config.pointer}/quantization` } : config;
}

/** The values that ask for a quantized KV cache: on the config itself and in its inner `quantization`. */
export function kvRequestsOf(config: Place): readonly Place[] {
  const settings = settingsOf(config);
  const objects = settings === config ? [config] : [config, settings];
  return objects.flatMap(({ node, pointer }) =>
    membersOf(node)
      .filter(({ name, value }) => KV_REQUEST_KEYS.includes(name) && value.type !== "null")
      .map(({ name, value }) => ({ node: value, pointer: `${pointer}/${name}` })),
  );
}
