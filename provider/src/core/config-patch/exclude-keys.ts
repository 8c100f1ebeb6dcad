import type { JsonObject } from "../json";
import { isMethod, type SettingsForm } from "./kv-request-places";
import type { ReadConfig } from "./read-config";

/** Names under which quantization configs list the modules that are not quantized. */
const EXCLUDE_KEYS: readonly string[] = [
  "ignore",
  "ignored_layers",
  "exclude_modules",
  "modules_to_not_convert",
  "exclude",
];

interface ExcludeRow {
  readonly methods: readonly string[];
  readonly forms: readonly SettingsForm[];
  /** Those that are read, the best one first; none: this method has no such list. */
  readonly reads: readonly string[];
  readonly source: string;
}

/** Which of the names each method reads; the first row that fits counts. */
const EXCLUDE_ROWS: readonly ExcludeRow[] = [
  {
    methods: ["modelopt*"],
    forms: ["inner"],
    reads: ["exclude_modules"],
    source: "vllm 0.32.0 modelopt.py:338",
  },
  {
    methods: ["modelopt*"],
    forms: ["flat"],
    reads: ["ignore"],
    source: "vllm 0.32.0 modelopt.py:355; 0.33.0 takes exclude_modules where ignore is missing",
  },
  {
    methods: ["mxfp8"],
    forms: ["flat"],
    reads: ["ignored_layers"],
    source: "vllm 0.32.0 modelopt.py:1224",
  },
  {
    methods: ["compressed-tensors"],
    forms: ["flat"],
    reads: ["ignore"],
    source: "vllm 0.32.0 compressed_tensors/compressed_tensors.py:254",
  },
  {
    methods: ["fp8", "deepseek_v4_fp8"],
    forms: ["flat"],
    reads: ["ignored_layers", "modules_to_not_convert"],
    source: "vllm 0.32.0 fp8.py:162-168: the second one only where the first is missing or empty",
  },
  {
    methods: ["awq", "awq_marlin", "auto_awq", "moe_wna16", "fbgemm_fp8", "fp_quant", "torchao"],
    forms: ["flat"],
    reads: ["modules_to_not_convert"],
    source: "vllm 0.32.0 auto_awq.py:247, moe_wna16.py:129, fbgemm_fp8.py:75, fp_quant.py:75, torchao.py:195",
  },
  {
    methods: ["quark"],
    forms: ["flat"],
    reads: ["exclude"],
    source: "vllm 0.32.0 quark/quark.py:243",
  },
  {
    methods: ["gptq", "gptq_marlin", "auto_gptq"],
    forms: ["flat"],
    reads: [],
    source: "vllm 0.32.0 auto_gptq.py:199: modules_in_block_to_quantize and dynamic say what is quantized",
  },
  {
    methods: ["mxfp4", "gpt_oss_mxfp4", "experts_int8"],
    forms: ["flat"],
    reads: [],
    source: "vllm 0.32.0 mxfp4.py:67, experts_int8.py:50: no key is read",
  },
];

/** A name in the overrides that the reader of this config does not look at. */
export interface UnreadExcludeKey {
  readonly key: string;
  /** Name that is read instead; null: there is none. */
  readonly instead: string | null;
}

/** Names of the overrides that nothing reads, unless a name that is read stands beside them. */
export function unreadExcludeKeys(
  overrides: JsonObject,
  config: ReadConfig | null,
): readonly UnreadExcludeKey[] {
  const method = config?.method ?? null;
  const row = EXCLUDE_ROWS.find(
    ({ methods, forms }) =>
      method !== null &&
      methods.some((name) => isMethod(method, name)) &&
      forms.includes(config?.form ?? "flat"),
  );
  if (row === undefined) return [];
  const given = EXCLUDE_KEYS.filter((key) => Object.hasOwn(overrides, key));
  if (given.some((key) => row.reads.includes(key))) return [];
  return given.map((key) => ({ key, instead: row.reads[0] ?? null }));
}
