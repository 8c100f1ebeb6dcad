import { checkedScheme, type KvSituation } from "./kv-cache-situation";
import type { ReadyRecord } from "./observed";

interface Granted {
  readonly wish: string;
  /** Types that are the wished one, under another name or in the layout of a backend. */
  readonly also: readonly string[];
  readonly source: string;
}

const SAME_TYPE: readonly Granted[] = [
  {
    wish: "fp8",
    also: ["fp8_e4m3", "fp8_ds_mla"],
    source: "vllm 0.32.0 config/cache.py: fp8 is e4m3; layers/attention/mla_attention.py:358",
  },
  {
    wish: "fp8_e4m3",
    also: ["fp8", "fp8_ds_mla"],
    source: "vllm 0.32.0 layers/attention/mla_attention.py:358: the layout of sparse MLA",
  },
];

/** Types that a KV cache may turn out to have where this one was wished, that one first; null: any, nothing was wished. */
export function grantedKvDtypes(wish: string): readonly string[] | null {
  if (wish === "auto") return null;
  return [wish, ...(SAME_TYPE.find((row) => row.wish === wish)?.also ?? [])];
}

/**
 * The type that attention layers take where all else says "auto"; null: the model's own. No log and no metric tells of it.
 * Source: vllm 0.16 to 0.33 model_executor/layers/attention/attention.py, the scheme of compressed-tensors.
 */
export function autoInLayers(situation: KvSituation): string | null {
  return checkedScheme(situation) === null ? null : "fp8";
}

/** What a server that answers keeps its KV cache in; null: it does not tell. */
export function kvCacheDtypeOf(ready: ReadyRecord | null): string | null {
  return ready?.kvCacheDtype ?? ready?.cacheConfig["cache_dtype"] ?? null;
}
