import type { JsonValue } from "../json";

/** Where a flag of an older vLLM is said today. */
export interface Successor {
  /** For the note: `gone since 0.13.0, is ...`. */
  readonly words: string;
  /** Flags that say the same, without dashes; `configOverrides.x`: a member of that input. Empty: nothing has to be said. */
  readonly flags: (value: JsonValue) => Readonly<Record<string, JsonValue>>;
}

function speculative(member: string): Successor {
  return {
    words: `speculative-config ${member}`,
    flags: (value) => ({ "speculative-config": { [member]: value } }),
  };
}

function structured(member: string): Successor {
  return {
    words: `structured-outputs-config ${member}`,
    flags: (value) => ({ "structured-outputs-config": { [member]: value } }),
  };
}

const POOLING: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> = {
  generate: { runner: "generate" },
  transcription: { runner: "generate" },
  embed: { runner: "pooling", convert: "embed" },
  embedding: { runner: "pooling", convert: "embed" },
  score: { runner: "pooling", convert: "classify" },
  classify: { runner: "pooling", convert: "classify" },
  reward: { runner: "pooling" },
};

/**
 * Flags that are gone and whose meaning is not. The removal is in vllm-flags-removed.ts.
 * Source: the pull requests of vllm-project/vllm that took them away, which say what to use; 0.32.0 takes what stands here.
 */
export const SUCCESSORS: ReadonlyMap<string, Successor> = new Map<string, Successor>([
  [
    "task",
    {
      words: "runner and convert",
      flags: (value) => (typeof value === "string" ? (POOLING[value] ?? {}) : {}),
    },
  ],
  [
    "rope-scaling",
    // As --hf-overrides it would replace rope_parameters as a whole, rope_theta with it.
    { words: "configOverrides.rope_scaling", flags: (value) => ({ "configOverrides.rope_scaling": value }) },
  ],
  [
    "rope-theta",
    { words: "configOverrides.rope_theta", flags: (value) => ({ "configOverrides.rope_theta": value }) },
  ],
  ["guided-decoding-backend", structured("backend")],
  ["guided-decoding-disable-fallback", structured("disable_fallback")],
  ["guided-decoding-disable-any-whitespace", structured("disable_any_whitespace")],
  ["guided-decoding-disable-additional-properties", structured("disable_additional_properties")],
  [
    "cuda-graph-sizes",
    {
      words: "max-cudagraph-capture-size",
      flags: (value) => {
        const sizes = (Array.isArray(value) ? value : [value]).map(Number);
        return sizes.length === 1
          ? { "max-cudagraph-capture-size": sizes[0] ?? 0 }
          : { "cudagraph-capture-sizes": sizes };
      },
    },
  ],
  ["override-pooler-config", { words: "pooler-config", flags: (value) => ({ "pooler-config": value }) }],
  [
    "disable-mm-preprocessor-cache",
    { words: "mm-processor-cache-gb 0", flags: () => ({ "mm-processor-cache-gb": 0 }) },
  ],
  [
    "enable-multimodal-encoder-data-parallel",
    { words: 'mm-encoder-tp-mode "data"', flags: () => ({ "mm-encoder-tp-mode": "data" }) },
  ],
  [
    "speculative-model",
    {
      words: "speculative-config model",
      flags: (value) => ({
        "speculative-config": value === "[ngram]" ? { method: "ngram" } : { model: value },
      }),
    },
  ],
  ["num-speculative-tokens", speculative("num_speculative_tokens")],
  ["ngram-prompt-lookup-max", speculative("prompt_lookup_max")],
  ["ngram-prompt-lookup-min", speculative("prompt_lookup_min")],
  ["speculative-draft-tensor-parallel-size", speculative("draft_tensor_parallel_size")],
]);
