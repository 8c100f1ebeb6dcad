/** What differs from a small server that starts, and what is told of it. Texts as they stand when line breaks are taken for spaces. */
export interface FailingStart {
  readonly title: string;
  /** Without it the processor refuses something else first. */
  readonly needsAvx512?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly engine?: Readonly<Record<string, unknown>>;
  readonly extraArgs?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly told: Told;
}

/** Parts of the error. */
export interface Told {
  /** Follows "Cannot start server "tiny" on 127.0.0.1: ". */
  readonly cause: RegExp;
  /** Of the line that proves it; null: what is seen before a start needs none. */
  readonly proof: RegExp | null;
  /** Begins the input to change; null: none is named. */
  readonly change: string | null;
}

export const FAILING_STARTS: readonly FailingStart[] = [
  {
    title: "a longer context than the model has",
    engine: { maxModelLen: 100000 },
    told: {
      cause: /^maxModelLen 100000 is above the 256 of the model$/,
      proof: /^Value error, User-specified max_model_len \(100000\) is greater than .*\(log line \d+\)$/,
      change: "engine.maxModelLen: 256 (--max-model-len)",
    },
  },
  {
    title: "a KV cache that is too small for one request",
    config: {
      ...{ num_hidden_layers: 64, num_attention_heads: 32, num_key_value_heads: 32, head_dim: 128 },
      max_position_embeddings: 4096,
    },
    engine: { maxModelLen: 2048 },
    told: {
      cause: /^maxModelLen 2048 needs 2 GiB of KV cache and 0\.\d+ GiB are left$/,
      proof: /^ValueError: To serve at least one request .*\(engine core, log line \d+\)$/,
      change: "engine.maxModelLen: 896 or lower (--max-model-len), or engine.gpuMemoryUtilization",
    },
  },
  {
    title: "a quantization method of the checkpoint that nobody knows",
    config: { quantization_config: { quant_method: "zeroquant" } },
    told: {
      cause: /^this vLLM does not know the quantization method zeroquant of the checkpoint$/,
      proof: /^Value error, Unknown quantization method: zeroquant\. .*\(log line \d+\)$/,
      change: "vllm.version: one that knows the method, or a plugin that has it; or model:",
    },
  },
  {
    title: "heads that do not divide",
    config: { num_attention_heads: 3, num_key_value_heads: 3, hidden_size: 96 },
    engine: { tensorParallelSize: 2 },
    told: {
      cause: /^the model has 3 attention heads, need a multiple of engine\.tensorParallelSize 2$/,
      proof: null,
      change: "engine.tensorParallelSize: 1",
    },
  },
  {
    title: "a tool parser that there is not",
    engine: { enableAutoToolChoice: true, toolCallParser: "hermez" },
    told: {
      cause: /^this vLLM knows no parser "hermez"$/,
      proof: /^KeyError: 'invalid tool call parser: hermez .*\(log line \d+\)$/,
      change: "engine.toolCallParser (--tool-call-parser)",
    },
  },
  {
    title: "no tokenizer",
    extraArgs: { "skip-tokenizer-init": false },
    told: {
      cause: /^the checkpoint has no tokenizer that can be read$/,
      proof: /^ValueError: Couldn't instantiate the backend tokenizer from one of: \(log line \d+\)$/,
      change: "model: a checkpoint with tokenizer.json and tokenizer_config.json; engine.tokenizer",
    },
  },
  {
    title: "a chat template that is not there",
    engine: { chatTemplate: "/no/such/template.jinja" },
    told: {
      cause: /^there is no chat template at \/no\/such\/template\.jinja$/,
      proof: /^vllm\.exceptions\.VLLMValidationError: The supplied chat template string .*\(log line \d+\)$/,
      change: "engine.chatTemplate (--chat-template): correct the path",
    },
  },
  {
    title: "an architecture that this vLLM does not have",
    config: { architectures: ["LlamaNextForCausalLM"] },
    told: {
      cause: /^this vLLM does not implement the architecture LlamaNextForCausalLM$/,
      proof:
        /^Value error, Model architectures \['LlamaNextForCausalLM'\] are not supported .*\(log line \d+\)$/,
      change: "vllm.version: one that has the architecture",
    },
  },
  {
    title: "code of the checkpoint's own",
    config: { auto_map: { AutoConfig: "configuration_tiny.TinyConfig" }, model_type: "tiny_own" },
    told: {
      cause: /^the checkpoint brings its own Python code, which must be allowed$/,
      proof: /^Please pass the argument `trust_remote_code=True` .*\(API server, log line \d+\)$/,
      change: "engine.trustRemoteCode: true (--trust-remote-code)",
    },
  },
  {
    title: "shards without the model's weights",
    engine: { loadFormat: "auto" },
    told: {
      cause: /^files or tensors that the model needs are not there$/,
      proof:
        /^ValueError: Following weights were not initialized from checkpoint: .*\(worker, log line \d+\)$/,
      change: "host: download the missing files",
    },
  },
  {
    title: "an adapter that is not there",
    engine: { enableLora: true, loraModules: ["sql=/no/such/adapter"] },
    told: {
      cause: /^there is no LoRA adapter at \/no\/such\/adapter$/,
      proof:
        /^vllm\.exceptions\.LoRAAdapterNotFoundError: Loading lora sql failed: .*\(worker, log line \d+\)$/,
      change: "engine.loraModules (--lora-modules): correct the path",
    },
  },
  {
    title: "an FP8 KV cache with heads that no backend takes",
    needsAvx512: true,
    config: { head_dim: 48 },
    inputs: { kvCacheDtype: "fp8" },
    told: {
      cause: /^no attention backend of this vLLM takes a KV cache of fp8 with this model and hardware$/,
      proof:
        /^NotImplementedError: FP8 KV cache requires head_size divisible by 32 on CPU\. \(worker, log line \d+\)$/,
      change: 'kvCacheDtype: "bfloat16" (--kv-cache-dtype bfloat16',
    },
  },
  {
    title: "more memory for the KV cache than the machine has",
    environment: { VLLM_CPU_KVCACHE_SPACE: "4000" },
    told: {
      cause: /^a KV cache of 4000 GiB is asked for, and [\d.]+ GiB of host memory are free \(NUMA node 0\)$/,
      proof: /^ValueError: Available memory on node 0 .*\(4000\.0 GiB\)\. .*\(worker, log line \d+\)$/,
      change:
        "environment.VLLM_CPU_KVCACHE_SPACE or engine.kvCacheMemoryBytes (--kv-cache-memory-bytes) below",
    },
  },
  {
    title: "a port of vLLM's own that is an address",
    environment: { VLLM_PORT: "tcp://10.0.0.1:8000" },
    told: {
      cause: /^the variable VLLM_PORT holds an address of a Kubernetes service$/,
      proof: /^ValueError: VLLM_PORT '\S+' appears to be a URI\. .*\(worker, log line \d+\)$/,
      change: "environment.VLLM_PORT: a number, or unset",
    },
  },
];
