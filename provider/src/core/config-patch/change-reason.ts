import { isSixteenBit } from "../model-config";
import { memberOf, parseJsonText, valueOf } from "./json-text";
import { KV_REQUEST_KEYS, kvRequestPlaceOf } from "./kv-request-places";
import type { FileChange } from "./patch-result";
import { readConfigOf } from "./read-config";

/** Why a patch changes a place, in words. `files`: the texts afterwards. */
export function reasonFor(
  change: FileChange,
  kvCacheDtype: string,
  files: Readonly<Record<string, string>>,
): string {
  const keys = change.pointer.split("/").slice(1).map(unescapePointer);
  const key = keys.at(-1) ?? "";
  if (!isSixteenBit(kvCacheDtype) || change.to !== null || !KV_REQUEST_KEYS.includes(key)) {
    return "an override says so";
  }
  const isInner = keys.at(-2) === "quantization";
  const config = keys.slice(0, isInner ? -2 : -1);
  const read = readConfigOf(files);
  if (read !== null && (read.file !== change.file || read.pointer !== pointerOf(config))) {
    const winner = read.pointer === "" ? read.file : `${read.file}#${read.pointer}`;
    return `asks for a quantized KV cache; vLLM reads ${winner} instead, other versions may read both`;
  }
  const method = methodAt(files[change.file] ?? "", config);
  const place = kvRequestPlaceOf(method, isInner ? "inner" : "flat", key);
  if (place?.readBy == null) {
    return "asks for a quantized KV cache; no vLLM that was looked at reads it there, another may";
  }
  const asks = `asks for a quantized KV cache; read by ${place.readBy}`;
  return place.counts === "with auto" ? `${asks}, as long as --kv-cache-dtype is auto` : asks;
}

function methodAt(text: string, path: readonly string[]): string | null {
  const json = parseJsonText(text);
  if (json === null) return null;
  let node = json.root;
  for (const key of path) {
    const next = memberOf(node, key);
    if (next === undefined) return null;
    node = next;
  }
  const method = memberOf(node, "quant_method");
  const value = method === undefined ? null : valueOf(json, method);
  return typeof value === "string" ? value.toLowerCase() : null;
}

function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${key}`).join("");
}

function unescapePointer(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
