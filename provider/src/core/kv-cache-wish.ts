import type { KvCacheWish } from "./kv-cache-situation";
import { attentionKindOf, modelDtypeOf } from "./model-config";
import type { GpuSeen } from "./observed";
import type { Spec } from "./spec";

/** What a KV-cache dtype depends on, of what was declared and of the files as vLLM will read them. */
export function kvCacheWishOf(
  spec: Spec,
  files: Readonly<Record<string, string | null>>,
  vllmVersion: string | null,
  gpus: readonly GpuSeen[],
): KvCacheWish {
  const configText = files["config.json"] ?? null;
  return {
    wish: spec.kvCacheDtype,
    vllmVersion,
    modelDtype: modelDtypeOf(configText),
    attentionKind: attentionKindOf(configText),
    dtypeArgument: dtypeArgumentOf(spec),
    files,
    computeCapabilities: gpus.map((gpu) => gpu.computeCapability),
  };
}

/** Given as --dtype; null: nothing. */
export function dtypeArgumentOf(spec: Spec): string | null {
  const dtype = spec.engine["dtype"];
  return typeof dtype === "string" ? dtype : null;
}
