import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Small folders that pass for checkpoints: the configs matter, the weights are dummies. */

/** A tiny Llama that the real vLLM loads with --load-format dummy. Source: tried with vLLM 0.32.0, CPU build. */
export const TINY_LLAMA = {
  architectures: ["LlamaForCausalLM"],
  dtype: "bfloat16",
  model_type: "llama",
  head_dim: 32,
  hidden_act: "silu",
  hidden_size: 64,
  intermediate_size: 128,
  max_position_embeddings: 256,
  num_attention_heads: 2,
  num_hidden_layers: 2,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: false,
  vocab_size: 256,
};

/** The part of a checkpoint that asks for an FP8 KV cache: what broke the start in the incident. */
export const FP8_KV_CACHE = {
  quant_method: "compressed-tensors",
  format: "float-quantized",
  quantization_status: "compressed",
  ignore: ["lm_head"],
  config_groups: {},
  kv_cache_scheme: { num_bits: 8, type: "float", strategy: "tensor", dynamic: false, symmetric: true },
};

/** As nvidia/Kimi-K2.5-NVFP4 is laid out: MLA attention, ModelOpt NVFP4, an FP8 KV cache asked for in both files. */
export const KIMI_CONFIG = {
  architectures: ["KimiK25ForConditionalGeneration"],
  dtype: "bfloat16",
  model_type: "kimi_k25",
  quantization_config: {
    ignore: ["language_model.lm_head"],
    quant_algo: "NVFP4",
    kv_cache_scheme: { dynamic: false, num_bits: 8, type: "float" },
    producer: { name: "modelopt", version: "0.41.0" },
    quant_method: "modelopt",
  },
  text_config: {
    architectures: ["DeepseekV3ForCausalLM"],
    dtype: "bfloat16",
    kv_lora_rank: 512,
    max_position_embeddings: 262144,
    model_type: "deepseek_v3",
    num_attention_heads: 64,
    qk_rope_head_dim: 64,
  },
};

export const KIMI_HF_QUANT_CONFIG = {
  producer: { name: "modelopt", version: "0.41.0" },
  quantization: { quant_algo: "NVFP4", kv_cache_quant_algo: "FP8", group_size: 16 },
};

/** A whole shard of no tensors: the length of its header as eight bytes, and the header. */
const EMPTY_SHARD = Buffer.from("\x02\0\0\0\0\0\0\0{}", "latin1");

/** Writes a checkpoint of one shard without tensors and these JSON files; returns its folder. */
export function writeCheckpoint(folder: string, files: Readonly<Record<string, unknown>>): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
  }
  writeFileSync(join(folder, "model-00001-of-00001.safetensors"), EMPTY_SHARD);
  return folder;
}
