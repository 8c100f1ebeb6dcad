import { isBefore, modelOptRequest } from "../kv-cache-situation";
import { autoInLayers } from "../kv-cache-granted";
import { backendsFor, BACKENDS, isKnownVersion, KNOWN_VERSIONS } from "./attention-backends";
import { EXPERT_BACKEND_RULE } from "./expert-backends";
import { floorFor } from "./quantization-floors";
import { type CompatibilityRule, stuckGpu } from "./rule";
import type { Situation } from "./situation";
import { LATEST_READ } from "./versions";
import { waysOut } from "./ways-out";

/** What GPUs, a version and a checkpoint do not do together. */
export const GPU_RULES: readonly CompatibilityRule[] = [
  {
    row: "no attention backend",
    judge: (situation) => {
      const { kv, gpus, newestVersion } = situation;
      const kvDtype = kvDtypeOf(situation);
      const kind = kv.attentionKind;
      if (kind === null || kind === "deepseek-v4" || gpus === null || !isKnownVersion(newestVersion))
        return null;
      if (kvDtype === null || !BACKENDS.some((row) => row.kvDtypes.includes(kvDtype))) return null;
      const version = newestVersion;
      const stuck = stuckGpu(situation, (gpu) => backendsFor({ kind, kvDtype, version, gpu }).length === 0);
      if (stuck === null) return null;
      const way = waysOut({ kind, kvDtype, version, gpus });
      return {
        summary: `no attention backend of vLLM ${version.join(".")} takes ${KIND_WORDS[kind]} with ${dtypeWords(kvDtype)} on compute capability ${stuck.join(".")}`,
        change: way ?? "model   (no KV cache dtype, version or GPU that is known here takes it)",
        path: "kvCacheDtype",
      };
    },
    fails: KNOWN_VERSIONS,
    source: "vLLM 0.16.0 to 0.33.0 platforms/cuda.py get_attn_backend_cls: No valid attention backend found",
  },
  {
    row: "quantization below its compute capability",
    judge: (situation) => {
      const { kv, newestVersion: version, quantizationArgument } = situation;
      if (kv.config === null || version === null || quantizationArgument !== null) return null;
      const floor = floorFor(kv.config, version);
      const low = stuckGpu(situation, (gpu) => floor !== null && isBefore(gpu, floor.capability));
      if (floor === null || low === null) return null;
      return {
        summary: `vLLM ${version.join(".")} loads ${floor.row.replace(/ before .*/, "")} from compute capability ${floor.capability.join(".")} on, found ${low.join(".")}`,
        change: "model   (a checkpoint that is quantized otherwise), or gpus",
        path: "model",
      };
    },
    fails: { since: [0, 11], before: LATEST_READ },
    source:
      "vLLM 0.11.0 to 0.33.0 config/vllm.py _get_quantization_config, get_min_capability of each method",
  },
  {
    row: "bfloat16 below 8.0",
    judge: (situation) => {
      const low = stuckGpu(situation, (gpu) => isBefore(gpu, [8, 0]));
      if (situation.dtypeArgument !== "bfloat16" || low === null) return null;
      return {
        summary: `bfloat16 needs GPUs of compute capability 8.0 or newer, found ${low.join(".")}`,
        change: 'engine.dtype: "float16"',
        path: "engine.dtype",
      };
    },
    fails: { since: [0, 11], before: LATEST_READ },
    source:
      "vLLM 0.11.0 to 0.33.0 platforms/cuda.py check_if_supports_dtype; without --dtype it takes float16 by itself (config/model.py _resolve_auto_dtype)",
  },
  EXPERT_BACKEND_RULE,
];

const KIND_WORDS = {
  attention: "standard attention",
  "dense-mla": "MLA attention",
  "sparse-mla": "sparse MLA attention",
} as const;

function dtypeWords(kvDtype: string): string {
  return kvDtype === "auto" ? "a KV cache of the model's own dtype" : `a KV cache of ${kvDtype}`;
}

/** What the selector of backends is asked for; null: not known. */
export function kvDtypeOf({ kv }: Situation): string | null {
  if (kv.wish !== "auto") return kv.wish;
  const asked = modelOptRequest(kv);
  if (asked === "fp8" || asked === "nvfp4") return asked;
  return autoInLayers(kv) ?? "auto";
}
