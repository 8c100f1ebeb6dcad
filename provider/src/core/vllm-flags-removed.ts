import type { FlagKind } from "./vllm-flags-table";

/** A flag that vLLM once took. */
export interface RemovedFlag {
  readonly flag: string;
  /** First version that refuses it. */
  readonly since: string;
  readonly kind: FlagKind;
  /** What to write instead, as an input; null: nothing, it is gone. */
  readonly instead: string | null;
}

function row(flag: string, since: string, kind: FlagKind, instead: string | null = null): RemovedFlag {
  return { flag, since, kind, instead };
}

/**
 * Source: release tags 0.8 to 0.16 and later pull requests of vllm-project/vllm, compared with the parser of 0.32.0, which takes none of them.
 * "0.17" for disable-log-requests: still there in 0.16, gone in the next release that was looked at. The flags of speculative decoding: pull
 * request 15466; disable-frontend-multiprocessing: 37612; use-v2-block-manager: 0.10.0 is when flags of that engine went, not looked up.
 */
export const REMOVED_FLAGS: readonly RemovedFlag[] = [
  row("speculative-model", "0.8.3", "string", "engine.speculativeConfig { model }"),
  row("num-speculative-tokens", "0.8.3", "int", "engine.speculativeConfig { num_speculative_tokens }"),
  row("ngram-prompt-lookup-max", "0.8.3", "int", "engine.speculativeConfig { prompt_lookup_max }"),
  row("ngram-prompt-lookup-min", "0.8.3", "int", "engine.speculativeConfig { prompt_lookup_min }"),
  row("speculative-draft-tensor-parallel-size", "0.8.3", "int", "engine.speculativeConfig"),
  row("use-v2-block-manager", "0.10.0", "bool"),
  row("enable-reasoning", "0.10.0", "bool", "engine.reasoningParser alone"),
  row("device", "0.10.0", "enum"),
  row("tokenizer-pool-size", "0.10.0", "int"),
  row("tokenizer-pool-type", "0.10.0", "string"),
  row("tokenizer-pool-extra-config", "0.10.0", "json"),
  row("qlora-adapter-name-or-path", "0.10.0", "string"),
  row("enable-prompt-adapter", "0.10.0", "bool"),
  row("max-prompt-adapters", "0.10.0", "int"),
  row("max-prompt-adapter-token", "0.10.0", "int"),
  row("num-scheduler-steps", "0.10.1", "int"),
  row("multi-step-stream-outputs", "0.10.1", "bool"),
  row("max-seq-len-to-capture", "0.11.0", "int", 'extraArgs["max-cudagraph-capture-size"]'),
  row("preemption-mode", "0.11.0", "string"),
  row("disable-async-output-proc", "0.11.0", "bool"),
  row("scheduler-delay-factor", "0.11.0", "float"),
  row("rope-scaling", "0.11.1", "json", "configOverrides.rope_scaling"),
  row("rope-theta", "0.11.1", "float", "configOverrides.rope_theta"),
  row("guided-decoding-backend", "0.12.0", "string", 'extraArgs["structured-outputs-config"] { backend }'),
  row("guided-decoding-disable-fallback", "0.12.0", "bool", 'extraArgs["structured-outputs-config"]'),
  row("guided-decoding-disable-any-whitespace", "0.12.0", "bool", 'extraArgs["structured-outputs-config"]'),
  row(
    "guided-decoding-disable-additional-properties",
    "0.12.0",
    "bool",
    'extraArgs["structured-outputs-config"]',
  ),
  row("override-pooler-config", "0.12.0", "json", 'extraArgs["pooler-config"]'),
  row("lora-extra-vocab-size", "0.12.0", "int"),
  row("num-lookahead-slots", "0.12.0", "int"),
  row("task", "0.13.0", "string", "engine.runner and engine.convert"),
  row("cuda-graph-sizes", "0.13.0", "list", 'extraArgs["max-cudagraph-capture-size"]'),
  row("disable-mm-preprocessor-cache", "0.13.0", "bool", 'extraArgs["mm-processor-cache-gb"] 0'),
  row("enable-multimodal-encoder-data-parallel", "0.13.0", "bool", 'engine.mmEncoderTpMode "data"'),
  row("disable-log-requests", "0.17", "bool", 'nothing; extraArgs["enable-log-requests"] turns it on'),
  row("logits-processor-pattern", "0.17.0", "string"),
  row("swap-space", "0.18.0", "float"),
  row("disable-frontend-multiprocessing", "0.19.0", "bool"),
  row("max-num-partial-prefills", "0.27.0", "int"),
  row("max-long-partial-prefills", "0.27.0", "int"),
  row("calculate-kv-scales", "0.28.0", "bool"),
  row("enable-bf16x3-router-gemm", "0.32.0", "bool"),
];

/** A flag that vLLM still takes, and a later version does not, or that does nothing any more. */
export interface DeprecatedFlag {
  readonly flag: string;
  /** First version that says so. */
  readonly since: readonly [number, number];
  readonly words: string;
  /** What to write instead, as an input; null: nothing. */
  readonly instead: string | null;
  readonly source: string;
}

export const DEPRECATED_FLAGS: readonly DeprecatedFlag[] = [
  {
    flag: "log-config-file",
    since: [0, 32],
    words: "gone in vLLM 0.33",
    instead: 'extraArgs["logging-config"] { pylogging_config_file }',
    source: "vLLM 0.32.0 engine/arg_utils.py _LOG_CONFIG_FILE_DEPRECATION_MESSAGE",
  },
  {
    flag: "disable-cascade-attn",
    since: [0, 32],
    words: "without effect, gone in vLLM 0.33",
    instead: null,
    source: "vLLM 0.32.0 engine/arg_utils.py _DISABLE_CASCADE_ATTN_DEPRECATION_MESSAGE",
  },
  {
    flag: "disable-log-requests",
    since: [0, 10],
    words: "deprecated since vLLM 0.10.1, gone in 0.17",
    instead: 'nothing; extraArgs["enable-log-requests"] turns it on',
    source: "release tags 0.10.1 and 0.16 of vllm-project/vllm",
  },
];
