import { isBefore } from "./kv-cache-situation";
import type { KvWishRule } from "./kv-wish-rule";
import { isSixteenBit } from "./model-config";

/** Values of --kv-cache-dtype. Source: vllm 0.16.0 and 0.32.0 config/cache.py CacheDType. */
const VALUES_OF_0_16 = ["auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla"];
const VALUES_OF_0_32 = [
  ...VALUES_OF_0_16,
  "float16",
  "fp8_per_token_head",
  "int4_per_token_head",
  "int8_per_token_head",
  "nvfp4",
  "nvfp4_4over6",
  "nvfp4_ds_mla",
  "turboquant_3bit_nc",
  "turboquant_4bit_nc",
  "turboquant_k3v4_nc",
  "turboquant_k8v4",
  "ultraquant_4bit",
];

export const DECIDED_BY_VERSION: readonly KvWishRule[] = [
  {
    row: "another 16-bit dtype than the model's",
    code: "kv-dtype-refused",
    holds: ({ version, wish, dtype }) =>
      isSixteenBit(wish) && !isBefore(version, [0, 33]) && isSixteenBit(dtype) && dtype !== wish,
    message:
      "vLLM 0.33 and later refuse a 16-bit kvCacheDtype that is not the model's own dtype (engine.dtype changes that one)",
    source: "vllm 0.33.0 config/vllm.py:1492",
  },
  {
    row: "float16 before 0.18",
    code: "kv-dtype-unknown-to-version",
    holds: ({ version, wish, dtype }) => isBefore(version, [0, 18]) && wish === "float16" && dtype !== wish,
    message: "this vLLM does not know --kv-cache-dtype float16: the KV cache gets the model's own dtype",
    source: "vllm 0.16.0 config/cache.py: float16 is no value of --kv-cache-dtype",
  },
  {
    row: "a value of a newer version",
    code: "kv-dtype-unknown-to-version",
    holds: ({ version, wish }) =>
      isBefore(version, [0, 17]) && !isSixteenBit(wish) && !VALUES_OF_0_16.includes(wish),
    message: `this vLLM takes ${VALUES_OF_0_16.join(", ")} as --kv-cache-dtype, nothing else`,
    fails: { since: [0, 11], before: [0, 17] },
    change: 'kvCacheDtype: "auto"   (or a newer vllm.version)',
    source: "vllm 0.16.0 config/cache.py CacheDType",
  },
  {
    row: "a value that vLLM 0.32 does not know",
    code: "kv-dtype-unknown-to-version",
    holds: ({ version, wish }) =>
      !isBefore(version, [0, 32]) && !VALUES_OF_0_32.includes(wish) && !wish.startsWith("octave_"),
    message: `vLLM 0.32 takes ${VALUES_OF_0_32.join(", ")} as --kv-cache-dtype; from 0.33 a plugin of the platform can add others`,
    fails: { since: [0, 32], before: [0, 33] },
    change: 'kvCacheDtype: "auto"',
    source: "vllm 0.32.0 config/cache.py CacheDType, 0.33.0 config/cache.py:117",
  },
];
