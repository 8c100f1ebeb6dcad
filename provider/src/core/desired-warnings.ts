import type { PatchWarning } from "./config-patch/patch-result";
import type { FindingCode, Remark } from "./finding";
import { dtypeArgumentOf } from "./kv-cache-wish";
import type { KvCacheWarning } from "./kv-wish-rule";
import { dtypeOfArgument } from "./model-config";
import type { Spec } from "./spec";

const CODES: Readonly<Record<PatchWarning["code"] | KvCacheWarning["code"], FindingCode>> = {
  "kv-dtype-refused": "KV_DTYPE_REFUSED",
  "kv-dtype-unknown-to-version": "KV_DTYPE_UNKNOWN_TO_VERSION",
  "kv-dtype-decided-by-model": "KV_DTYPE_DECIDED_BY_MODEL",
  "kv-dtype-not-supported": "KV_DTYPE_NOT_SUPPORTED",
  "kv-dtype-differs-from-model-dtype": "KV_DTYPE_NOT_THE_MODELS",
  "kv-scheme-refused": "KV_SCHEME_REFUSED",
  "kv-request-not-known": "KV_REQUEST_NOT_KNOWN",
  "quantization-refused": "QUANTIZATION_REFUSED",
  "quantization-key-in-overrides": "OVERRIDE_NOT_READ",
  "exclude-key-not-read": "OVERRIDE_NOT_READ",
};

/**
 * What a declaration asks for and this vLLM will not make of it what was meant. The checkpoint's dtype is no mismatch where engine.dtype
 * gives the wished one, and one that is refused is told once.
 */
export function desiredWarnings(
  spec: Spec,
  ofPatch: readonly PatchWarning[],
  ofKvCache: readonly KvCacheWarning[],
): readonly Remark[] {
  const isWishGiven = dtypeOfArgument(dtypeArgumentOf(spec)) === spec.kvCacheDtype;
  const isToldByFlag = ofKvCache.some(({ code }) => code === "kv-dtype-refused");
  const kept = ofPatch.filter(
    ({ code }) => code !== "kv-dtype-differs-from-model-dtype" || !(isWishGiven || isToldByFlag),
  );
  return [
    ...[...kept, ...ofKvCache].map(({ code, message }) => warning(CODES[code], message, pathOf(code))),
    ...overridesBesideParams(spec),
  ];
}

function pathOf(code: keyof typeof CODES): string {
  return CODES[code] === "OVERRIDE_NOT_READ" ? "quantizationConfigOverrides" : "kvCacheDtype";
}

/** Source: vLLM 0.32.0 transformers_utils/configs/mistral.py adapt_config_dict: config.json gives defaults only. */
function overridesBesideParams(spec: Spec): readonly Remark[] {
  const overrides = { ...spec.quantizationConfigOverrides, ...spec.configOverrides };
  if (spec.engine["configFormat"] !== "mistral" || Object.keys(overrides).length === 0) return [];
  return [
    warning(
      "OVERRIDE_NOT_READ",
      'with engine.configFormat "mistral" vLLM reads params.json first: overrides of config.json count only for what that does not say',
      "engine.configFormat",
    ),
  ];
}

function warning(code: FindingCode, summary: string, path: string): Remark {
  return { severity: "warning", code, summary, path };
}
