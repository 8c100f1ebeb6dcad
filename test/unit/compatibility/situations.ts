import { type KvCacheWish, situationOf } from "../../../provider/src/core/kv-cache-situation";
import { attentionKindOf, modelDtypeOf } from "../../../provider/src/core/model-config";
import { modelFactsOf } from "../../../provider/src/core/compatibility/model-facts";
import type { ParallelSizes, Situation } from "../../../provider/src/core/compatibility/situation";

/** A situation in the words of a test; what is left out is nothing special: a Llama on one H100 with vLLM 0.32.0. */
export interface Told {
  readonly config?: Readonly<Record<string, unknown>> | null;
  readonly wish?: string;
  /** null: not known. */
  readonly version?: string | null;
  /** null: not known. */
  readonly gpus?: readonly string[] | null;
  readonly isOnEachGpu?: boolean;
  readonly parallel?: Partial<ParallelSizes>;
  readonly dtypeArgument?: string;
  readonly quantizationArgument?: string;
  readonly expertBackend?: string;
  readonly isAsRead?: boolean;
}

export const LLAMA = {
  architectures: ["LlamaForCausalLM"],
  dtype: "bfloat16",
  model_type: "llama",
  hidden_size: 4096,
  intermediate_size: 14336,
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  max_position_embeddings: 131072,
};

export const LLAMA_70B = {
  ...LLAMA,
  hidden_size: 8192,
  intermediate_size: 28672,
  num_attention_heads: 64,
  num_hidden_layers: 80,
};

export const QWEN_MOE = {
  ...LLAMA,
  architectures: ["Qwen3MoeForCausalLM"],
  model_type: "qwen3_moe",
  num_experts: 128,
  moe_intermediate_size: 1536,
};

export const MLA = { ...LLAMA, model_type: "deepseek_v3", kv_lora_rank: 512, qk_rope_head_dim: 64 };
export const SPARSE_MLA = { ...MLA, model_type: "glm_moe_dsa", index_topk: 2048, index_head_dim: 128 };

export function situation(told: Told = {}): Situation {
  const { version = "0.32.0", gpus = ["9.0"], config = LLAMA } = told;
  const configText = config === null ? null : JSON.stringify(config);
  const wish: KvCacheWish = {
    wish: told.wish ?? "auto",
    vllmVersion: version,
    modelDtype: modelDtypeOf(configText),
    attentionKind: attentionKindOf(configText),
    dtypeArgument: told.dtypeArgument ?? null,
    files: { "config.json": configText },
    computeCapabilities: gpus ?? [],
  };
  const kv = situationOf(wish);
  return {
    kv,
    newestVersion: kv.version,
    model: modelFactsOf(configText),
    gpus: gpus === null ? null : kv.capabilities,
    isOnEachGpu: told.isOnEachGpu ?? true,
    parallel: { tensor: 1, pipeline: 1, data: 1, isExpertParallel: false, ...told.parallel },
    dtypeArgument: told.dtypeArgument ?? null,
    quantizationArgument: told.quantizationArgument ?? null,
    expertBackend: told.expertBackend ?? null,
    isAsRead: told.isAsRead ?? true,
  };
}
