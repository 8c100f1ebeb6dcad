import type { VersionRange } from "./compatibility/situation";
import type { KvSituation } from "./kv-cache-situation";

export interface KvCacheWarning {
  readonly code:
    /** Two 16-bit dtypes that this version does not take together. */
    | "kv-dtype-refused"
    /** No value of --kv-cache-dtype of this version. */
    | "kv-dtype-unknown-to-version"
    /** The model or its backend may store another one. */
    | "kv-dtype-decided-by-model"
    /** No attention backend of these GPUs and this model takes it. */
    | "kv-dtype-not-supported"
    /** What the files ask for lets no start succeed with this wish. */
    | "kv-scheme-refused"
    /** What the files ask for is nothing to this version: the KV cache gets the model's own dtype. */
    | "kv-request-not-known"
    /** This version does not load what is quantized so. */
    | "quantization-refused";
  readonly message: string;
}

export interface KvWishRule extends KvCacheWarning {
  /** Name of the row, for tests. */
  readonly row: string;
  readonly holds: (situation: KvSituation) => boolean;
  /** Versions of vLLM in which a start with it is proven to fail; absent: the start goes on, or it is not proven. */
  readonly fails?: VersionRange;
  /** What to change; absent: what the table of attention backends finds. */
  readonly change?: string;
  /** Version it was checked with, and where it stands. */
  readonly source: string;
}
