interface Refusal {
  readonly reason: string;
  readonly stage: "config" | "hook" | "layer";
  /** Part of what vLLM says. */
  readonly error: string;
}

interface RefusedWish extends Refusal {
  /** Code of the warning that we give before the start. */
  readonly told: string;
}

/** Cases about which vLLM 0.32.0 cannot be asked, because it refuses them patched and as they came. */
export const NOT_JUDGED: ReadonlyMap<string, Refusal> = new Map([
  [
    "nemotron-35-lightning-mixed-legacy-bf16",
    {
      reason: "0.33 is the first to read it",
      stage: "config",
      error: "Unknown ModelOpt quant algo: MIXED_PRECISION",
    },
  ],
  [
    "own-both-top-places-and-text-config-bf16",
    {
      reason: "no model of one piece has a text_config",
      stage: "config",
      error: "does not have `num_attention_heads`",
    },
  ],
  [
    "own-language-config-four-deep-bf16",
    { reason: "no model is nested so deep", stage: "config", error: "has model type `x`" },
  ],
  [
    "own-modelopt-legacy-key-absent-bf16",
    {
      reason: "it lacks a key that NVFP4 needs",
      stage: "config",
      error: "following fields in hf_quant_config.json: ['kv_cache_quant_algo']",
    },
  ],
  [
    "own-overrides-in-every-place-bf16",
    {
      reason: "no model of one piece has a text_config",
      stage: "config",
      error: "does not have `num_attention_heads`",
    },
  ],
  [
    "own-quark-null-kv-keys-beside-bf16",
    {
      reason: "Quark wants the settings that its kv_cache_group names",
      stage: "config",
      error: "no kv_cache quantization settings were found",
    },
  ],
  [
    "own-text-dtype-differs-fp16",
    {
      reason: "no model of one piece has a text_config",
      stage: "config",
      error: "does not have `num_attention_heads`",
    },
  ],
]);

/** Cases of overrides that are no settings of their method: what is asked of the patch there is where it writes. */
export const BROKEN_BY_OVERRIDES: ReadonlyMap<string, Refusal> = new Map([
  [
    "own-overrides-replace-by-kind-auto",
    { reason: "a config group without targets", stage: "config", error: "'targets'" },
  ],
]);

/** Wishes that vLLM 0.32.0 does not grant, with any files: we say so before the start. */
export const NOT_GRANTED: ReadonlyMap<string, RefusedWish> = new Map([
  [
    "deepseek-v4-flash-nvfp4-bf16",
    {
      reason: "only its FlashInfer layout takes 16-bit",
      stage: "layer",
      error: "DeepseekV4 fp8_ds_mla layout only supports fp8 kv-cache, got bfloat16",
      told: "kv-dtype-decided-by-model",
    },
  ],
]);
