import { isList } from "../config-patch/json-text";
import type { JsonObject, JsonValue } from "../json";

/** How many layers of a model keep what of the tokens behind them. */
export interface LayerKinds {
  /** Keep every token. */
  readonly full: number;
  /** Keep the last `window` tokens. */
  readonly sliding: number;
  /** Keep one state, whatever the length: Mamba, linear attention. */
  readonly state: number;
  /** Tokens; 0 where no layer slides. */
  readonly window: number;
  /** Bytes of the states of one request over all these layers, before they are divided by tensor parallelism; null: not known. */
  readonly stateBytes: number | null;
}

/** Words of `layer_types` and its older names. Source: transformers 5 ALLOWED_LAYER_TYPES; vLLM 0.32.0 config/model.py get_num_layers_by_block_type. */
const WORDS: Readonly<Record<string, "full" | "sliding" | "state" | "none">> = {
  full_attention: "full",
  attention: "full",
  sliding_attention: "sliding",
  linear_attention: "state",
  mamba: "state",
  mlp: "none",
  moe: "none",
};

/** Letters of Nemotron-H's hybrid_override_pattern. Source: vLLM 0.32.0 transformers_utils/configs/nemotron_h.py. */
const LETTERS: Readonly<Record<string, string>> = { M: "mamba", "*": "attention", "-": "mlp", E: "moe" };

/** What the layers of a text config keep; null: said in a form that is not known here. */
export function layerKindsOf(text: JsonObject): LayerKinds | null {
  const layers = wholeNumber(text["num_hidden_layers"] ?? text["n_layer"] ?? text["num_layers"]);
  if (layers === null) return null;
  const words = wordsOf(text, layers);
  if (words === null || words.length !== layers) return null;
  const kinds = words.map((word) => WORDS[word]);
  if (kinds.includes(undefined)) return null;
  const count = (kind: string): number => kinds.filter((one) => one === kind).length;
  const window = wholeNumber(text["sliding_window"]);
  if (count("sliding") > 0 && window === null) return null;
  return {
    full: count("full"),
    sliding: count("sliding"),
    state: count("state"),
    window: count("sliding") === 0 ? 0 : (window ?? 0),
    stateBytes: stateBytesOf(text, count("state")),
  };
}

function wordsOf(text: JsonObject, layers: number): readonly string[] | null {
  const listed = text["layer_types"] ?? text["layers_block_type"];
  if (listed !== undefined && listed !== null) {
    return isList(listed) ? listed.flatMap((word) => (typeof word === "string" ? [word] : [])) : null;
  }
  const pattern = text["hybrid_override_pattern"];
  if (typeof pattern === "string") return Array.from(pattern, (letter) => LETTERS[letter] ?? letter);
  const all = (word: string): readonly string[] => Array.from({ length: layers }, () => word);
  const every = (interval: number, word: string): readonly string[] =>
    all(word).map((other, index) => ((index + 1) % interval === 0 ? "full_attention" : other));
  const isLinear = ["linear_num_value_heads", "mamba_num_heads", "ssm_cfg", "linear_attn_config"].some(
    (key) => text[key] !== undefined && text[key] !== null,
  );
  const interval = wholeNumber(text["full_attention_interval"]);
  if (interval !== null && interval > 0) return every(interval, "linear_attention");
  if (isLinear || text["attn_layer_period"] !== undefined) return null;
  // Llama 4 keeps chunks, not windows.
  if (wholeNumber(text["attention_chunk_size"]) !== null) return null;
  const window = wholeNumber(text["sliding_window"]);
  if (window === null || text["use_sliding_window"] === false) return all("full_attention");
  const slides = wholeNumber(text["sliding_window_pattern"]);
  if (slides !== null && slides > 0) return every(slides, "sliding_attention");
  // Gemma 2 and 3, and Cohere 2, say their pattern in code.
  return text["use_sliding_window"] === undefined && text["model_type"] === "mistral"
    ? all("sliding_attention")
    : null;
}

/** Of gated delta nets: a matrix for each value head, and the last tokens of a convolution in 16 bits. Source: vLLM 0.32.0 model_executor/layers/mamba/mamba_utils.py gated_delta_net_state_shape, _state_dtype. */
function stateBytesOf(text: JsonObject, layers: number): number | null {
  if (layers === 0) return 0;
  const size = (key: string): number | null => wholeNumber(text[key]);
  const keyHeads = size("linear_num_key_heads");
  const valueHeads = size("linear_num_value_heads");
  const keyDim = size("linear_key_head_dim");
  const valueDim = size("linear_value_head_dim");
  const kernel = size("linear_conv_kernel_dim");
  if (keyHeads === null || valueHeads === null || keyDim === null || valueDim === null || kernel === null)
    return null;
  const matrix = valueHeads * keyDim * valueDim * (text["mamba_ssm_dtype"] === "float32" ? 4 : 2);
  const convolution = (kernel - 1) * (2 * keyHeads * keyDim + valueHeads * valueDim) * 2;
  return layers * (matrix + convolution);
}

function wholeNumber(value: JsonValue | undefined): number | null {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : null;
}
