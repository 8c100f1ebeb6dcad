import { isBefore, type KvCacheWish, type KvSituation, situationOf } from "./kv-cache-situation";
import type { KvCacheWarning } from "./kv-wish-rule";
import { KV_WISH_RULES } from "./kv-wish-rules";
import { isSixteenBit } from "./model-config";

export interface KvCacheFlag {
  /** Value for --kv-cache-dtype; null: do not pass it (vLLM's own default, "auto"). */
  readonly flag: string | null;
  readonly warnings: readonly KvCacheWarning[];
}

interface FlagRule {
  readonly holds: (situation: KvSituation) => boolean;
  /** "auto" is passed as no flag: after the checkpoint was neutralised it means the model's dtype. */
  readonly pass: "auto" | "wish";
  /** Version it was checked with, and where it stands. */
  readonly source: string;
}

/** The first row that holds decides. */
const FLAG_RULES: readonly FlagRule[] = [
  {
    holds: ({ wish }) => wish === "auto",
    pass: "auto",
    source: "vllm 0.32.0 config/cache.py: the default",
  },
  {
    holds: ({ wish }) => !isSixteenBit(wish),
    pass: "wish",
    source: "vllm 0.32.0 utils/torch_utils.py:519: an explicit value wins over what the files ask for",
  },
  {
    holds: ({ attentionKind }) => attentionKind === "deepseek-v4",
    pass: "wish",
    source: "vllm 0.32.0 models/deepseek_v4/attention.py:108: auto is fp8_ds_mla",
  },
  {
    holds: ({ version, wish, dtype }) => isBefore(version, [0, 18]) && wish === "float16" && dtype !== wish,
    pass: "auto",
    source: "vllm 0.16.0 config/cache.py: float16 is no value of --kv-cache-dtype",
  },
  {
    holds: ({ version, wish, dtype }) => isBefore(version, [0, 18]) && dtype === wish,
    pass: "auto",
    source:
      "vllm 0.16.0 v1/attention/ops/triton_reshape_and_cache_flash.py:148 asserts auto or fp8; <= 0.14 TRITON_MLA knows auto only",
  },
  {
    holds: ({ isCpuBuild, wish, dtype }) => isCpuBuild && dtype === wish,
    pass: "auto",
    source: "vllm 0.32.0 CPU_MLA knows auto only",
  },
  {
    holds: () => true,
    pass: "wish",
    source:
      "vllm 0.32.0: auto takes fp8 for GLM-DSA on SM10x even without a request (models/config.py:50), the explicit value never",
  },
];

/**
 * Which --kv-cache-dtype carries a wish out, once patchCheckpoint has taken the checkpoint's own wish away.
 * Never fails; what cannot be had comes as a warning.
 */
export function chooseKvCacheFlag(input: KvCacheWish): KvCacheFlag {
  const situation = situationOf(input);
  const pass = FLAG_RULES.find((row) => row.holds(situation))?.pass;
  return {
    flag: pass === "auto" ? null : input.wish,
    warnings: KV_WISH_RULES.filter((row) => row.holds(situation)).map(({ code, message }) => ({
      code,
      message,
    })),
  };
}
