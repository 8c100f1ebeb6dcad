import type { ModelFacts } from "./model-facts";

/** What one GPU keeps of the tokens of one request, in bytes. */
export interface KvLayout {
  /** For each token, in the layers that keep all of them. */
  readonly bytesPerToken: number;
  /** For each token of the window, in the layers that slide. */
  readonly slidingBytesPerToken: number;
  /** Tokens. */
  readonly window: number;
  /** Whatever the length: states of Mamba and linear attention. */
  readonly stateBytes: number;
}

export interface KvQuestion {
  /** As an attention layer takes it, "auto" for the model's own dtype. */
  readonly kvDtype: string;
  /** Bytes of an element of the model's own dtype: 2, or 4. */
  readonly dtypeBytes: number;
  readonly tensor: number;
  readonly pipeline: number;
}

interface ElementRow {
  readonly kvDtypes: readonly string[];
  /** Bytes of an element, and of the scales beside a head of `headDim` elements. */
  readonly bytes: (headDim: number) => number;
  readonly source: string;
}

const ELEMENTS: readonly ElementRow[] = [
  {
    kvDtypes: ["bfloat16", "float16"],
    bytes: (headDim) => 2 * headDim,
    source: "vLLM 0.32.0 utils/torch_utils.py STR_DTYPE_TO_TORCH_DTYPE",
  },
  {
    kvDtypes: ["fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc"],
    bytes: (headDim) => headDim,
    source: "vLLM 0.32.0 utils/torch_utils.py STR_DTYPE_TO_TORCH_DTYPE",
  },
  {
    kvDtypes: ["nvfp4", "nvfp4_4over6"],
    bytes: (headDim) => headDim / 2 + headDim / 16,
    source:
      "vLLM 0.32.0 v1/attention/backends/flashinfer.py: K data, K scale, V data, V scale; one FP8 scale for 16",
  },
  {
    kvDtypes: ["fp8_per_token_head", "int8_per_token_head"],
    bytes: (headDim) => headDim + 4,
    source:
      "vLLM 0.32.0 v1/attention/backends/triton_attn.py _ensure_scale_caches: a float32 for each token and head",
  },
  {
    kvDtypes: ["int4_per_token_head"],
    bytes: (headDim) => headDim / 2 + 4,
    source: "vLLM 0.32.0 v1/attention/backends/triton_attn.py _ensure_scale_caches",
  },
];

/** DeepSeek's layout of sparse MLA: 512 FP8 values, four float32 scales, 64 values of 16 bits. Source: vLLM 0.32.0 v1/attention/backends/mla/flashmla_sparse.py. */
const DS_MLA_BYTES = 656;

/** What a model keeps of a request on each GPU; null: a size or a dtype is not known. */
export function kvLayoutOf(model: ModelFacts, question: KvQuestion): KvLayout | null {
  const kinds = model.layerKinds;
  const layerBytes = layerBytesOf(model, question);
  if (kinds === null || layerBytes === null || kinds.stateBytes === null) return null;
  const stages = (layers: number): number => Math.ceil(layers / question.pipeline);
  return {
    bytesPerToken: stages(kinds.full) * layerBytes,
    slidingBytesPerToken: stages(kinds.sliding) * layerBytes,
    window: kinds.window,
    stateBytes: kinds.stateBytes / question.tensor / question.pipeline,
  };
}

/** Bytes of one token in one layer on one GPU. */
function layerBytesOf(model: ModelFacts, question: KvQuestion): number | null {
  const elements = (count: number): number | null => elementBytes(count, question);
  if (model.isMlaKnown === false) return null;
  if (model.mla !== null) {
    // One latent vector for all heads: every GPU of a tensor-parallel group keeps it whole.
    const { loraRank, ropeHeadDim, indexHeadDim } = model.mla;
    const latent = question.kvDtype === "fp8_ds_mla" ? DS_MLA_BYTES : elements(loraRank + ropeHeadDim);
    return latent === null ? null : latent + indexerBytes(indexHeadDim);
  }
  if (model.kvHeads === null || model.headDim === null) return null;
  const head = elements(model.headDim);
  // Fewer KV heads than GPUs are repeated.
  return head === null ? null : 2 * Math.max(1, Math.ceil(model.kvHeads / question.tensor)) * head;
}

function elementBytes(headDim: number, { kvDtype, dtypeBytes }: KvQuestion): number | null {
  if (kvDtype === "auto") return dtypeBytes * headDim;
  return ELEMENTS.find((row) => row.kvDtypes.includes(kvDtype))?.bytes(headDim) ?? null;
}

/** The indexer keeps its keys in FP8, with a float32 scale for each 128. Source: vLLM 0.32.0 model_executor/models/deepseek_v2.py Indexer. */
function indexerBytes(indexHeadDim: number | null): number {
  return indexHeadDim === null ? 0 : indexHeadDim + Math.ceil(indexHeadDim / 128) * 4;
}

/** Bytes that one request of `tokens` takes on one GPU; sliding layers keep their window and what one step adds to it. */
export function requestBytes(layout: KvLayout, tokens: number, stepTokens: number): number {
  const kept = Math.min(tokens, layout.window + stepTokens);
  return tokens * layout.bytesPerToken + kept * layout.slidingBytesPerToken + layout.stateBytes;
}

/** The longest request that fits into `bytes`, tokens; null: length costs nothing. */
export function longestRequest(layout: KvLayout, bytes: number, stepTokens: number): number | null {
  if (layout.bytesPerToken + layout.slidingBytesPerToken === 0) return null;
  const short = layout.window + stepTokens;
  const room = bytes - layout.stateBytes;
  const beyond = room - short * layout.slidingBytesPerToken;
  const whole = room / (layout.bytesPerToken + layout.slidingBytesPerToken);
  if (whole <= short) return Math.max(0, Math.floor(whole));
  return layout.bytesPerToken === 0 ? null : Math.floor(beyond / layout.bytesPerToken);
}
