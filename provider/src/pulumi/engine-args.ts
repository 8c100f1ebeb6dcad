import type { Input } from "@pulumi/pulumi";

/** Any JSON object with Pulumi inputs in it. */
export type InputObject = Input<{ readonly [key: string]: Input<unknown> }>;

/**
 * vLLM's flags that nearly everybody uses, by vLLM's long names in camelCase; all others go to `extraArgs`.
 * What is not given is not passed: vLLM's own default counts (those named here are of vLLM 0.32.0).
 * A change of any of them restarts the server.
 */
export interface EngineArgs {
  /** GPUs that share every layer. Default 1. GPUs needed = tensor x pipeline x data parallel size. */
  readonly tensorParallelSize?: Input<number> | undefined;
  /** Groups of GPUs that share the layers out one after the other. Default 1. */
  readonly pipelineParallelSize?: Input<number> | undefined;
  /** Copies of the engine. Default 1. */
  readonly dataParallelSize?: Input<number> | undefined;
  /** Requests that run at the same time. Default: chosen by vLLM. */
  readonly maxNumSeqs?: Input<number> | undefined;
  /** Tokens in one step over all requests. Default: chosen by vLLM. */
  readonly maxNumBatchedTokens?: Input<number> | undefined;
  /** Tokens in one block of the KV cache. Default: chosen by vLLM. */
  readonly blockSize?: Input<number> | undefined;
  /** LoRA adapters in one batch. Default 1. */
  readonly maxLoras?: Input<number> | undefined;
  /** Largest rank of a LoRA adapter. Default 16. */
  readonly maxLoraRank?: Input<number> | undefined;
  /** Bytes of KV cache per GPU; overrules gpuMemoryUtilization. Default: what is left of gpuMemoryUtilization. */
  readonly kvCacheMemoryBytes?: Input<number> | undefined;
  /** Tokens of prompt and answer together, or "auto" for the most that fits into GPU memory. Default: the model's own limit. */
  readonly maxModelLen?: Input<number | "auto"> | undefined;
  /** Part of each GPU's memory to use, 0 to 1. Default 0.92. */
  readonly gpuMemoryUtilization?: Input<number> | undefined;
  /** GiB of weights per GPU that are kept in main memory. Default 0. */
  readonly cpuOffloadGb?: Input<number> | undefined;
  /** Share the experts of a mixture-of-experts model out over the GPUs. Default false. */
  readonly enableExpertParallel?: Input<boolean> | undefined;
  /** Do without CUDA graphs and compilation: starts sooner, answers slower. Default false. */
  readonly enforceEager?: Input<boolean> | undefined;
  /** Run Python code that comes with the model. Default false. */
  readonly trustRemoteCode?: Input<boolean> | undefined;
  /** Let the model call tools; needs toolCallParser. Default false. */
  readonly enableAutoToolChoice?: Input<boolean> | undefined;
  /** Keep the KV cache of prompts that begin alike. Default: on where the model can. */
  readonly enablePrefixCaching?: Input<boolean> | undefined;
  /** Cut long prompts into parts. Default: on where the model can. */
  readonly enableChunkedPrefill?: Input<boolean> | undefined;
  /** Plan the next step while one runs. Default: on where possible. */
  readonly asyncScheduling?: Input<boolean> | undefined;
  /** Serve LoRA adapters. Default false. */
  readonly enableLora?: Input<boolean> | undefined;
  /** Serve only the language part of a multimodal model. Default false. */
  readonly languageModelOnly?: Input<boolean> | undefined;
  /** Type of weights and activations: "auto", "bfloat16", "float16", "float32". Default "auto". */
  readonly dtype?: Input<string> | undefined;
  /** How the weights are quantized. Default: what the checkpoint says. */
  readonly quantization?: Input<string> | undefined;
  /** How weights are read: "auto", "safetensors", "dummy", ... Default "auto". */
  readonly loadFormat?: Input<string> | undefined;
  /** Repository or path of the tokenizer. Default: the model's own. */
  readonly tokenizer?: Input<string> | undefined;
  /** "auto", "hf", "slow", "mistral", ... Default "auto". */
  readonly tokenizerMode?: Input<string> | undefined;
  /**
   * Format of the model's config: "auto", "hf", "mistral" (params.json). With "mistral" the weights of that layout, consolidated*.safetensors,
   * are downloaded where a repository has both and loadFormat does not say otherwise. Default "auto".
   */
  readonly configFormat?: Input<string> | undefined;
  /** What the model is for: "auto", "generate", "pooling", "draft". Default "auto". */
  readonly runner?: Input<string> | undefined;
  /** Turn the model into one that embeds or classifies: "auto", "none", "embed", "classify". Default "auto". */
  readonly convert?: Input<string> | undefined;
  /** Path on the host, or text, of a chat template. Default: the tokenizer's own. */
  readonly chatTemplate?: Input<string> | undefined;
  /** Which format of tool calls the model writes, e.g. "kimi_k2". Default: none. */
  readonly toolCallParser?: Input<string> | undefined;
  /** Which format of reasoning the model writes, e.g. "deepseek_r1". Default: none. */
  readonly reasoningParser?: Input<string> | undefined;
  /** Attention backend, e.g. "FLASHINFER", "TRITON_MLA". Default: chosen by vLLM. */
  readonly attentionBackend?: Input<string> | undefined;
  /** How workers are run: "mp", "ray", "uni". Default: chosen by vLLM. */
  readonly distributedExecutorBackend?: Input<string> | undefined;
  /** How the encoder of a multimodal model is shared out: "weights" or "data". Default "weights". */
  readonly mmEncoderTpMode?: Input<string> | undefined;
  /** Names that requests may use for the model; the first one is `servedModelName`. Default: the model's path. */
  readonly servedModelName?: Input<readonly Input<string>[]> | undefined;
  /** LoRA adapters: "name=path" or {name, path, base_model_name}. Default: none. */
  readonly loraModules?: Input<readonly (Input<string> | InputObject)[]> | undefined;
  /** Values that vLLM puts over the model's Hugging Face config when it runs. Default: none. */
  readonly hfOverrides?: InputObject | undefined;
  /** Speculative decoding, by vLLM's names: {method, model, num_speculative_tokens, ...}. Default: off. */
  readonly speculativeConfig?: InputObject | undefined;
  /** Compilation and CUDA graphs, by vLLM's names. Default: chosen by vLLM. */
  readonly compilationConfig?: InputObject | undefined;
  /** Items of each kind in one request, e.g. {image: 4}. Default: chosen by vLLM. */
  readonly limitMmPerPrompt?: InputObject | undefined;
  /** Values that every chat template gets. Default: none. */
  readonly defaultChatTemplateKwargs?: InputObject | undefined;
  /** Values over the model's generation_config.json, e.g. {temperature: 0.6}. Default: none. */
  readonly overrideGenerationConfig?: InputObject | undefined;
}
