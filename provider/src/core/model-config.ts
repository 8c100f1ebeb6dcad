import { type JsonText, memberOf, parseJsonText, valueOf } from "./config-patch/json-text";

export type SixteenBitDtype = "bfloat16" | "float16";
export type ModelDtype = SixteenBitDtype | "float32";

/** How a model attends, as far as its KV cache dtype depends on it. */
export type AttentionKind = "attention" | "dense-mla" | "sparse-mla" | "deepseek-v4";

export function isSixteenBit(dtype: string | null): dtype is SixteenBitDtype {
  return dtype === "bfloat16" || dtype === "float16";
}

/** Where config.json says the dtype. Source: vllm 0.32.0 config/model.py _find_dtype, transformers 5 (dtype before torch_dtype). */
const DTYPE_PLACES: readonly (readonly string[])[] = [
  [],
  ["text_config"],
  ["llm_config"],
  ["language_config"],
  ["thinker_config", "text_config"],
];

/** The dtype a checkpoint says it has; null: none, or one that is not of these. */
export function modelDtypeOf(configText: string | null): ModelDtype | null {
  const file = configText === null ? null : parseJsonText(configText);
  if (file === null) return null;
  for (const place of DTYPE_PLACES) {
    for (const key of ["dtype", "torch_dtype"]) {
      const found = textAt(file, [...place, key]);
      if (found !== null) return dtypeOfArgument(found.replace(/^torch\./, ""));
    }
  }
  return null;
}

/** How the model of a config.json attends. Source: vllm 0.32.0 transformers_utils/model_arch_config_convertor.py is_deepseek_mla. */
export function attentionKindOf(configText: string | null): AttentionKind | null {
  const file = configText === null ? null : parseJsonText(configText);
  if (file === null) return null;
  const has = (key: string): boolean =>
    memberAt(file, [key]) !== undefined || memberAt(file, ["text_config", key]) !== undefined;
  if (textAt(file, ["model_type"]) === "deepseek_v4") return "deepseek-v4";
  if (has("index_topk")) return "sparse-mla";
  return has("kv_lora_rank") ? "dense-mla" : "attention";
}

function memberAt(file: JsonText, path: readonly string[]): ReturnType<typeof memberOf> {
  return path.reduce<ReturnType<typeof memberOf>>(
    (node, key) => (node === undefined ? undefined : memberOf(node, key)),
    file.root,
  );
}

function textAt(file: JsonText, path: readonly string[]): string | null {
  const node = memberAt(file, path);
  const value = node === undefined ? null : valueOf(file, node);
  return typeof value === "string" ? value : null;
}

/** vLLM's and torch's words for a dtype; null for any other text. */
export function dtypeOfArgument(argument: string | null): ModelDtype | null {
  switch (argument) {
    case "bfloat16":
      return "bfloat16";
    case "float16":
    case "half":
      return "float16";
    case "float32":
    case "float":
      return "float32";
    default:
      return null;
  }
}
