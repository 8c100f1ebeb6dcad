/** What differs from a small server that starts, and what is told of it. Texts as they stand when line breaks are taken for spaces. */
export interface FailingStart {
  readonly title: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly engine?: Readonly<Record<string, unknown>>;
  readonly extraArgs?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly told: Told;
}

/** Parts of the error. */
export interface Told {
  /** Follows "Cannot start server "tiny" on 127.0.0.1: ". */
  readonly cause: string | RegExp;
  /** Of the line that proves it; null: the look before a start needs none. */
  readonly proof: RegExp | null;
  /** The input to change comes first in it. */
  readonly change: string;
}

const UNSEEN = { cause: "?", proof: null, change: "?" } as const;

export const FAILING_STARTS: readonly FailingStart[] = [
  { title: "a longer context than the model has", engine: { maxModelLen: 100000 }, told: UNSEEN },
  {
    title: "a KV cache that is too small for one request",
    config: { num_hidden_layers: 64, num_attention_heads: 32, num_key_value_heads: 32, head_dim: 128, max_position_embeddings: 4096 },
    engine: { maxModelLen: 2048 },
    told: UNSEEN,
  },
  { title: "a quantization method of the checkpoint that nobody knows", config: { quantization_config: { quant_method: "zeroquant" } }, told: UNSEEN },
  { title: "heads that do not divide", config: { num_attention_heads: 3, num_key_value_heads: 3, hidden_size: 96 }, engine: { tensorParallelSize: 2 }, told: UNSEEN },
  { title: "a tool parser that there is not", engine: { enableAutoToolChoice: true, toolCallParser: "hermez" }, extraArgs: { "skip-tokenizer-init": false }, told: UNSEEN },
  { title: "no tokenizer", extraArgs: { "skip-tokenizer-init": false }, told: UNSEEN },
  { title: "a chat template that is not there", engine: { chatTemplate: "/no/such/template.jinja" }, told: UNSEEN },
  { title: "an architecture that this vLLM does not have", config: { architectures: ["LlamaNextForCausalLM"], model_type: "llama" }, told: UNSEEN },
  { title: "code of the checkpoint's own", config: { auto_map: { AutoConfig: "configuration_tiny.TinyConfig" }, model_type: "tiny_own" }, told: UNSEEN },
  { title: "no weights of the model in its shards", engine: { loadFormat: "auto" }, told: UNSEEN },
  { title: "an adapter that is not there", engine: { enableLora: true, loraModules: ["sql=/no/such/adapter"] }, told: UNSEEN },
  { title: "an FP8 KV cache with heads that no backend takes", config: { head_dim: 48 }, told: UNSEEN },
  { title: "more memory for the KV cache than the machine has", environment: { VLLM_CPU_KVCACHE_SPACE: "4000" }, told: UNSEEN },
  { title: "a port of vLLM's own that is an address", environment: { VLLM_PORT: "tcp://10.0.0.1:8000" }, told: UNSEEN },
];
