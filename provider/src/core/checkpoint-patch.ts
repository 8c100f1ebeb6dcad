import { patchCheckpoint, type PatchResult } from "./config-patch";
import type { Spec } from "./spec";

/** What a declaration makes of the config of its checkpoint. */
export function patchOf(spec: Spec, files: Readonly<Record<string, string | null>>): PatchResult {
  return patchCheckpoint({
    files,
    kvCacheDtype: spec.kvCacheDtype,
    quantizationConfigOverrides: spec.quantizationConfigOverrides,
    configOverrides: spec.configOverrides,
  });
}
