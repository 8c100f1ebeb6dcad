import { isList, parseJsonText, valueOf } from "../config-patch/json-text";
import type { JsonObject, JsonValue } from "../json";
import { layerKindsOf, type LayerKinds } from "./layer-kinds";

/** Sizes of a model as its config.json says them. null: it does not say, or says it in a form that is not known here. */
export interface ModelFacts {
  readonly layers: number | null;
  readonly hiddenSize: number | null;
  readonly attentionHeads: number | null;
  readonly kvHeads: number | null;
  readonly headDim: number | null;
  /** Of the dense feed-forward layers. */
  readonly intermediateSize: number | null;
  /** Of one expert. */
  readonly expertIntermediateSize: number | null;
  /** 0: no mixture of experts. null: something is said of experts, and not how many. */
  readonly experts: number | null;
  readonly vocabSize: number | null;
  readonly maxPositions: number | null;
  readonly mla: MlaFacts | null;
  /** Whether vLLM runs it as MLA; null: it has no latent vector. Other models that have one compute it back into heads. */
  readonly isMlaKnown: boolean | null;
  readonly layerKinds: LayerKinds | null;
  /** Layers for multi-token prediction that the checkpoint holds beside the model's own; loaded for speculative decoding only. */
  readonly predictLayers: number;
  readonly isMultimodal: boolean;
  /** quant_method of the checkpoint, lower case. */
  readonly quantization: string | null;
}

/** The latent vector that MLA stores for a token, in elements. */
export interface MlaFacts {
  readonly loraRank: number;
  readonly ropeHeadDim: number;
  /** Of the indexer of sparse MLA; null: dense. */
  readonly indexHeadDim: number | null;
}

/** Where a config.json keeps the sizes of its language model. Source: vLLM 0.32.0 transformers_utils/config.py get_hf_text_config. */
const TEXT_PLACES: readonly (readonly string[])[] = [
  [],
  ["text_config"],
  ["llm_config"],
  ["language_config"],
  ["thinker_config", "text_config"],
];

/** Names of one size. Source: vLLM 0.32.0 transformers_utils/model_arch_config_convertor.py; transformers' attribute_map of GPT-2, Falcon and ChatGLM. */
const NAMES = {
  layers: ["num_hidden_layers", "n_layer", "num_layers"],
  hiddenSize: ["hidden_size", "n_embd", "d_model"],
  attentionHeads: ["num_attention_heads", "n_head", "n_heads"],
  kvHeads: [
    "n_head_kv",
    "num_kv_heads",
    "num_key_value_heads",
    "multi_query_group_num",
    "num_attention_groups",
  ],
  experts: ["num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts"],
  predictLayers: ["num_nextn_predict_layers", "mtp_num_hidden_layers"],
} as const;

/** model_type of those that run as MLA. Source: vLLM 0.16.0, 0.24.0, 0.32.0 and 0.33.0 transformers_utils/model_arch_config_convertor.py is_deepseek_mla. */
const MLA_MODELS: readonly string[] = [
  "axk1",
  "deepseek_v2",
  "deepseek_v3",
  "deepseek_v32",
  "dots3_note",
  "glm5_next",
  "glm5_next_text",
  "glm_moe_dsa",
  "glm4_moe_lite",
  "kimi_k2",
  "kimi_linear",
  "longcat_flash",
  "pangu_ultra_moe",
  "bailing_hybrid",
  "hy_v4",
];

/** Keys of models whose layers differ in size, or that encode what they decode: none of the sums here hold for them. */
const NOT_UNDERSTOOD: readonly string[] = [
  "block_configs",
  "per_layer_config",
  "compress_ratios",
  "global_head_dim",
  "num_global_key_value_heads",
  "num_kv_shared_layers",
  "encoder_layers",
];

/** The sizes of a model; null: no config.json, or one of a form that is not understood. */
export function modelFactsOf(configText: string | null): ModelFacts | null {
  const file = configText === null ? null : parseJsonText(configText);
  if (file === null) return null;
  const whole = objectOf(valueOf(file, file.root));
  const places = TEXT_PLACES.map((path) => at(whole, path));
  const text =
    places.find((one) => numberAt(one, NAMES.layers) !== null) ??
    places.find((one) => numberAt(one, NAMES.attentionHeads) !== null);
  if (whole === null || text === undefined || text === null) return null;
  const isForeign = NOT_UNDERSTOOD.some((key) => isSaid(text[key]) || isSaid(whole[key]));
  if (isForeign || whole["is_encoder_decoder"] === true) return null;
  const attentionHeads = numberAt(text, NAMES.attentionHeads);
  const hiddenSize = numberAt(text, NAMES.hiddenSize);
  const experts =
    numberAt(text, NAMES.experts) ?? (Object.keys(text).some((key) => /expert/i.test(key)) ? null : 0);
  return {
    layers: numberAt(text, NAMES.layers),
    hiddenSize,
    attentionHeads,
    kvHeads: text["multi_query"] === true ? 1 : (numberAt(text, NAMES.kvHeads) ?? attentionHeads),
    headDim: numberAt(text, ["head_dim", "hidden_size_per_head"]) ?? quotient(hiddenSize, attentionHeads),
    intermediateSize: numberAt(text, ["intermediate_size"]),
    expertIntermediateSize:
      experts === 0 || experts === null
        ? null
        : (numberAt(text, ["moe_intermediate_size"]) ?? numberAt(text, ["intermediate_size"])),
    experts,
    vocabSize: numberAt(text, ["vocab_size"]) ?? numberAt(whole, ["vocab_size"]),
    maxPositions: numberAt(text, ["max_position_embeddings", "n_positions", "seq_length"]),
    mla: mlaOf(text),
    isMlaKnown: isSaid(text["kv_lora_rank"]) ? isMlaModel(text["model_type"]) : null,
    layerKinds: layerKindsOf(text),
    predictLayers: numberAt(text, NAMES.predictLayers) ?? 0,
    isMultimodal: isSaid(whole["vision_config"]),
    quantization: methodOf(whole) ?? methodOf(text),
  };
}

function isMlaModel(modelType: JsonValue | undefined): boolean {
  return typeof modelType === "string" && MLA_MODELS.includes(modelType.toLowerCase());
}

function methodOf(config: JsonObject): string | null {
  const method = objectOf(config["quantization_config"])?.["quant_method"];
  return typeof method === "string" ? method.toLowerCase() : null;
}

function mlaOf(text: JsonObject): MlaFacts | null {
  const loraRank = numberAt(text, ["kv_lora_rank"]);
  const ropeHeadDim = numberAt(text, ["qk_rope_head_dim"]);
  if (loraRank === null || ropeHeadDim === null) return null;
  const isSparse = isSaid(text["index_topk"]);
  return {
    loraRank,
    ropeHeadDim,
    indexHeadDim: isSparse ? (numberAt(text, ["index_head_dim"]) ?? 128) : null,
  };
}

function isSaid(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== 0 && value !== false;
}

function quotient(whole: number | null, parts: number | null): number | null {
  return whole === null || parts === null || parts === 0 || whole % parts !== 0 ? null : whole / parts;
}

function at(object: JsonObject | null, path: readonly string[]): JsonObject | null {
  return path.reduce<JsonObject | null>((inner, key) => objectOf(inner?.[key]), object);
}

function objectOf(value: JsonValue | undefined): JsonObject | null {
  return typeof value === "object" && value !== null && !isList(value) ? value : null;
}

function numberAt(object: JsonObject | null, names: readonly string[]): number | null {
  for (const name of names) {
    const value = object?.[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  }
  return null;
}
