/** How the settings of a quantization config stand: by themselves, or in an inner `quantization` object (ModelOpt's first form). */
export type SettingsForm = "flat" | "inner";

/** A place where a quantization config can ask for a quantized KV cache, and what vLLM makes of it. */
export interface KvRequestPlace {
  /** quant_method of the config; one that ends with "*" stands for all that begin so. */
  readonly methods: readonly string[];
  readonly forms: readonly SettingsForm[];
  /** Keys of the settings, with dots for what is deeper. */
  readonly keys: readonly string[];
  /** Which of vLLM's code reads it; null: none. */
  readonly readBy: string | null;
  /** Which --kv-cache-dtype lets it count. */
  readonly counts: "with auto" | "with any flag" | "never";
  /** What JSON null there is to vLLM; never deleted, because some readers want the key to be there. */
  readonly whenNull: "no request" | "an error";
  /** Versions of vLLM that it was looked at in. */
  readonly checked: readonly string[];
  readonly source: string;
}

/**
 * The first row that fits a config counts. null is read as no request by every reader of the two keys that a patch touches, in all
 * these versions; what must not become null (Quark) is another key.
 */
const KV_REQUEST_PLACES: readonly KvRequestPlace[] = [
  {
    methods: ["modelopt*"],
    forms: ["flat", "inner"],
    keys: ["kv_cache_scheme", "kv_cache_quant_algo"],
    readBy: "ModelOpt's rule for auto",
    counts: "with auto",
    whenNull: "no request",
    checked: ["0.16.0", "0.32.0", "0.33.0"],
    source:
      "vllm 0.32.0 utils/torch_utils.py:470, modelopt.py:332 and :345; NVFP4 and MXFP8 want the key, :816 and :1244",
  },
  {
    methods: ["mxfp8"],
    forms: ["flat"],
    keys: ["kv_cache_quant_algo"],
    readBy: null,
    counts: "never",
    whenNull: "no request",
    checked: ["0.32.0", "0.33.0"],
    source: "vllm 0.32.0 modelopt.py:1223 keeps it; auto looks only where the method begins with modelopt",
  },
  {
    methods: ["compressed-tensors"],
    forms: ["flat"],
    keys: ["kv_cache_scheme"],
    readBy: "the attention layer, not that of MLA; it checks the scheme whatever the flag is",
    counts: "with any flag",
    whenNull: "no request",
    checked: ["0.16.0", "0.32.0", "0.33.0"],
    source:
      "vllm 0.32.0 attention.py:287, compressed_tensors.py:1103 (a scheme that is not 8-bit float is refused), attention.py:219 (fp8_e5m2); 0.16.0 attention.py:232 forces fp8 even for bfloat16",
  },
  {
    methods: ["fp8", "deepseek_v4_fp8"],
    forms: ["flat"],
    keys: ["kv_cache_scheme", "kv_cache_quant_algo"],
    readBy: null,
    counts: "never",
    whenNull: "no request",
    checked: ["0.32.0", "0.33.0"],
    source: "vllm 0.32.0 fp8.py:207 reads scales only; models/deepseek_v4/attention.py:108 decides by itself",
  },
  {
    methods: ["quark"],
    forms: ["flat"],
    keys: ["export.kv_cache_group", "layer_quant_config"],
    readBy: "Quark's config, for scales: auto stays auto",
    counts: "never",
    whenNull: "an error",
    checked: ["0.32.0", "0.33.0"],
    source: "vllm 0.32.0 quark.py:276-325",
  },
];

/** Keys that a 16-bit wish sets to null, wherever they stand. */
export const KV_REQUEST_KEYS: readonly string[] = [
  ...new Set(
    KV_REQUEST_PLACES.filter(({ whenNull }) => whenNull === "no request").flatMap(({ keys }) => keys),
  ),
];

/** What vLLM makes of a key in a config of this method; null: no row knows it. */
export function kvRequestPlaceOf(
  method: string | null,
  form: SettingsForm,
  key: string,
): KvRequestPlace | null {
  // ModelOpt's own files name no method.
  const named = method ?? "modelopt";
  return (
    KV_REQUEST_PLACES.find(
      ({ methods, forms, keys }) =>
        methods.some((name) => isMethod(named, name)) && forms.includes(form) && keys.includes(key),
    ) ?? null
  );
}

export function isMethod(method: string, pattern: string): boolean {
  return pattern.endsWith("*") ? method.startsWith(pattern.slice(0, -1)) : method === pattern;
}
