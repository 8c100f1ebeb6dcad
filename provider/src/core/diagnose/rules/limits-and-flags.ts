import type { CauseRule } from "../rule";
import { error, hint, proof, symptom, verdict } from "../signs";

export const LIMITS_AND_FLAGS_RULES: readonly CauseRule[] = [
  {
    cause: "MAX_MODEL_LEN_EXCEEDS_MODEL",
    summary: [
      "maxModelLen {maxModelLen} is above the {suggestedMaxModelLen} of the model",
      "maxModelLen is above what the model allows",
    ],
    change: [
      'engine.maxModelLen: {suggestedMaxModelLen} (--max-model-len), or YaRN by configOverrides, or environment.VLLM_ALLOW_LONG_MAX_MODEL_LEN: "1"',
      'engine.maxModelLen lower (--max-model-len), or YaRN by configOverrides, or environment.VLLM_ALLOW_LONG_MAX_MODEL_LEN: "1"',
    ],
    signs: [
      proof(
        /User-specified max_model_len \((?<maxModelLen>\d+)\) is greater than the derived max_model_len \(\w+=(?<suggestedMaxModelLen>\d+)/,
        "vllm 0.4 to 0.33 config/model.py",
      ),
      proof(
        /User-specified max_model_len \((?<maxModelLen>\d+)\) is greater than/,
        "vllm 0.4 to 0.33 config/model.py",
      ),
      proof(/larger than the maximum model length \(?(?<suggestedMaxModelLen>\d+)/, "vllm 0.6 config.py"),
    ],
  },
  {
    cause: "BATCHED_TOKENS_TOO_SMALL",
    summary: ["maxNumBatchedTokens is too small"],
    change: [
      "engine.maxNumBatchedTokens: {blockSize} or more (--max-num-batched-tokens), or engine.enablePrefixCaching: false (--no-enable-prefix-caching)",
      "engine.maxNumBatchedTokens: {maxModelLen} or more (--max-num-batched-tokens), or engine.enableChunkedPrefill: true (--enable-chunked-prefill)",
      "engine.maxNumBatchedTokens higher (--max-num-batched-tokens), or engine.enableChunkedPrefill: true (--enable-chunked-prefill)",
    ],
    signs: [
      proof(
        /block_size \((?<blockSize>\d+)\) must be <= max_num_batched_tokens \((?<maxNumBatchedTokens>\d+)\)/,
        "vllm 0.17 to 0.33 config/vllm.py",
      ),
      proof(
        /max_num_batched_tokens \((?<maxNumBatchedTokens>\d+)\) is smaller than max_model_len \((?<maxModelLen>\d+)\)/,
        "vllm 0.3 to 0.33 config/scheduler.py",
      ),
      proof(
        /max_num_batched_tokens \((?<maxNumBatchedTokens>\d+)\) must be greater than or equal to max_num_seqs \((?<maxNumSeqs>\d+)\)/,
        "vllm 0.3 to 0.33 config/scheduler.py",
      ),
      proof(
        /is larger than max_num_batched_tokens \((?<maxNumBatchedTokens>\d+)\)/,
        "vllm 0.8 to 0.33 chunked multi-modal input",
      ),
      proof(/Consider increasing max_num_batched_tokens/, "vllm 0.32.0 engine/arg_utils.py"),
    ],
  },
  {
    cause: "SPEC_CONFIG_INVALID",
    summary: ["the speculative decoding configuration is not acceptable"],
    change: [
      'engine.speculativeConfig (--speculative-config): correct it, for a draft model with "num_speculative_tokens", or leave it out',
    ],
    signs: [
      proof(/num_speculative_tokens must be provided/, "vllm 0.8 to 0.33 config/speculative.py"),
      proof(/`num_speculative_tokens` was not provided/, "vllm 0.32.0 config/speculative.py"),
      proof(/num_speculative_tokens was provided but without/, "vllm 0.32.0 config/speculative.py"),
      proof(
        /num_speculative_tokens:\d+ must be divisible by n_predict/,
        "vllm 0.8 to 0.33 config/speculative.py",
      ),
      proof(
        /Expected num_speculative_tokens to be greater than zero/,
        "vllm 0.8 to 0.33 config/speculative.py",
      ),
      proof(/[Uu]nsupported speculative method/, "vllm 0.8 to 0.33 config/speculative.py"),
      proof(/Unknown speculative decoding method/, "vllm 0.8 to 0.33 v1/worker/gpu_model_runner.py"),
      proof(
        /Target and draft model should have the same vocabulary size/,
        "vllm 0.11 to 0.33 config/speculative.py",
      ),
      proof(/speculative_\w+=\d+ cannot be /, "vllm 0.6 to 0.33 config/speculative.py"),
      proof(/is not a valid argument in the speculative_config/, "vllm 0.8 to 0.33 config/speculative.py"),
      proof(/prompt_lookup_m\w+ .*must be/, "vllm 0.8 to 0.33 config/speculative.py"),
      proof(/does not contain MTP weights/, "vllm 0.32.0 config/speculative.py"),
      proof(/Model does not support EAGLE3 interface/, "vllm 0.10 to 0.33 v1/worker"),
      proof(/Speculative decoding .*(?:is not supported|not yet supported|requires)/, "vllm 0.6 to 0.11"),
      error(/validation errors? for SpeculativeConfig/, "vllm 0.10 to 0.33, pydantic"),
      proof(/Value error, /, "vllm 0.10 to 0.33, pydantic", {
        accepts: (_match, _line, before) => /for SpeculativeConfig\s*$/.test(before),
        isBestEvidence: true,
      }),
      error(
        /\[type=\w+, input_/,
        "vllm 0.10 to 0.33, pydantic: of a field, whose name stands on the line before",
        {
          accepts: (_match, _line, before) => /for SpeculativeConfig\s*\n[^\n]*\s*$/.test(before),
          isBestEvidence: true,
        },
      ),
      error(/does not support MTP/, "vllm 0.11 models"),
    ],
  },
  {
    cause: "LORA_RANK_TOO_HIGH",
    summary: [
      "the LoRA adapter has rank {rank} and maxLoraRank is {maxLoraRank}",
      "the LoRA adapter's rank is above maxLoraRank",
    ],
    change: ["engine.maxLoraRank: {rank} (--max-lora-rank)", "engine.maxLoraRank higher (--max-lora-rank)"],
    signs: [
      verdict(
        /LoRA rank (?<rank>\d+) is greater than max_lora_rank (?<maxLoraRank>\d+)/,
        "vllm 0.4 to 0.33 lora/peft_helper.py",
      ),
      verdict(/max_lora_rank .*must be one of/, "vllm 0.4 config/lora.py"),
    ],
  },
  {
    cause: "LORA_ADAPTER_NOT_FOUND",
    summary: ["there is no LoRA adapter at {path}", "there is no LoRA adapter at the path that was given"],
    change: ["engine.loraModules (--lora-modules): correct the path, or mount it"],
    signs: [
      verdict(
        /Loading lora .* failed: No adapter found for (?<path>\S+)/,
        "vllm 0.6 to 0.33 lora/worker_manager.py",
        {
          isBestEvidence: true,
        },
      ),
      verdict(/No adapter found for (?<path>\S+)/, "vllm 0.6 to 0.33 lora/worker_manager.py"),
      proof(/No such file or directory: '\S*adapter_config\.json'/, "vllm 0.6 to 0.33 lora/peft_helper.py"),
      proof(/ doesn't contain tensors/, "vllm 0.6 to 0.33 lora/lora_model.py"),
      error(/Loading lora .* failed/, "vllm 0.6 to 0.33 lora/worker_manager.py"),
      error(/expected target modules in .* but received/, "vllm 0.4 to 0.33 lora/lora_model.py"),
    ],
  },
  {
    cause: "RUNNER_MISMATCH",
    summary: ["the model cannot be run as it was asked to (generate or pooling)"],
    change: [
      'engine.runner: "pooling" or "generate", as the model is, or leave it out (--runner); engine.convert (--convert)',
    ],
    signs: [
      proof(/does not support `--runner/, "vllm 0.10 to 0.33 config/model.py"),
      proof(/ do not support `--runner/, "vllm 0.32.0 config/model.py"),
      proof(/does not support the '?\w+'? task/, "vllm 0.8 to 0.11 config.py"),
      proof(/does not support any pooling tasks/, "vllm 0.10 to 0.33 v1/worker"),
      proof(/This model does not support `?--task/, "vllm 0.8 to 0.10 config.py"),
      proof(/Unsupported task: /, "vllm 0.8 to 0.33 config/model.py"),
      error(/is not a (?:generative|text generation|pooling) model/, "vllm 0.6 to 0.10"),
    ],
  },
  {
    cause: "TOOL_PARSER_UNKNOWN",
    summary: ['this vLLM knows no parser "{parser}"', "this vLLM does not know the tool or reasoning parser"],
    change: [
      "engine.toolCallParser (--tool-call-parser) or engine.reasoningParser (--reasoning-parser): choose one of the list in the log, or another vLLM version",
    ],
    signs: [
      verdict(
        /argument --(?:tool-call-parser|reasoning-parser)\S*: invalid choice: '(?<parser>[^']+)'/,
        "argparse; vllm 0.6 to 0.10",
      ),
      verdict(/invalid tool call parser: (?<parser>\S+)/, "vllm 0.6 to 0.33 entrypoints launcher"),
      verdict(/invalid reasoning parser: (?<parser>\S+)/, "vllm 0.8 to 0.33 entrypoints launcher"),
      verdict(/Tool parser '(?<parser>[^']+)' not found/, "vllm 0.12 tool_parsers"),
      verdict(
        /Reasoning parser '(?<parser>[^']+)' not found/,
        "vllm 0.32.0 reasoning/abs_reasoning_parsers.py",
      ),
      verdict(
        /requires tool_parser: ?'(?<parser>[^']+)' which has not been registered/,
        "vllm 0.32.0 parser/parser_manager.py",
      ),
      verdict(
        /reasoning_parser_name=(?<parser>\S+) has not been registered/,
        "vllm 0.32.0 parser/parser_manager.py",
      ),
      verdict(
        /tool_parser:? ?'?(?<parser>[\w-]+)'? (?:not found|is not registered)/,
        "vllm 0.6 tool_parsers",
      ),
    ],
  },
  {
    cause: "CHAT_TEMPLATE_NOT_FOUND",
    summary: ["there is no chat template at {path}", "there is no chat template at the path that was given"],
    change: ["engine.chatTemplate (--chat-template): correct the path"],
    signs: [
      proof(
        /The supplied chat template string \((?<path>[^)]+)\) appears path-like/,
        "vllm 0.4 to 0.33 entrypoints/chat_utils.py",
      ),
      proof(
        /The supplied chat template \((?<path>[^)]+)\) looks like a file path/,
        "vllm 0.5 to 0.33 entrypoints/chat_utils.py",
      ),
      hint(/appears path-like, but/, "vllm 0.4 to 0.33 entrypoints/chat_utils.py"),
    ],
  },
  {
    cause: "UNKNOWN_ARGUMENT",
    summary: ["this vLLM does not know the flag {argument}", "this vLLM does not know a flag"],
    change: [
      "engine or extraArgs: leave {argument} out, or use its new name",
      "engine or extraArgs: leave the flag out, or use its new name",
    ],
    signs: [
      proof(/error: unrecognized arguments: (?<argument>--?\S+)/, "argparse; vllm 0.3 to 0.33"),
      proof(/error: unrecognized arguments: (?<argument>\S+)/, "argparse; vllm 0.3 to 0.33"),
      proof(/error: ambiguous option: (?<argument>\S+)/, "argparse"),
      error(/got an unexpected keyword argument '(?<argument>\w+)'/, "Python; vllm engine arguments", {
        accepts: (match) => /EngineArgs|LLMEngine|VllmConfig/.test(match.input),
      }),
    ],
  },
  {
    cause: "ARGUMENT_VALUE_INVALID",
    summary: ["the value of {argument} cannot be read", "the value of a flag cannot be read"],
    change: [
      "engine or extraArgs: correct the value of {argument}; JSON as an object, not as quoted text",
      "engine or extraArgs: correct the value; JSON as an object, not as quoted text",
    ],
    signs: [
      error(/error: argument (?<argument>--[\w.-]+)\S*: /, "argparse; vllm 0.3 to 0.33"),
      error(/error: argument \S*?(?<argument>--[\w.-]+)/, "argparse; vllm 0.3 to 0.33"),
      error(/error: the following arguments are required/, "argparse"),
      symptom(/Expecting property name enclosed in double quotes/, "Python json"),
      symptom(/ cannot be converted to /, "vllm 0.8 to 0.33 engine/arg_utils.py"),
      symptom(
        /\[type=(?:unexpected_keyword_argument|extra_forbidden|literal_error|int_parsing|bool_parsing)/,
        "pydantic",
      ),
      symptom(/enable-auto-tool-choice requires --tool-call-parser/, "vllm 0.6 to 0.33 entrypoints"),
      symptom(/are mutually exclusive/, "vllm 0.32.0 engine/arg_utils.py"),
      symptom(/Invalid data-parallel launch options/, "vllm 0.32.0 engine/arg_utils.py"),
    ],
  },
  {
    cause: "ALLOC_CONF_CONFLICT",
    summary: [
      "expandable_segments in the environment clashes with the memory pool of sleep mode or of a KV connector",
    ],
    change: [
      'environment.PYTORCH_CUDA_ALLOC_CONF without expandable_segments, or extraArgs["enable-sleep-mode"] left out (--enable-sleep-mode)',
    ],
    signs: [
      verdict(
        /Expandable segments are not compatible with memory pool/,
        "vllm 0.7 to 0.20 device_allocator/cumem.py",
      ),
      verdict(
        /is incompatible with PYTORCH_CUDA_ALLOC_CONF=expandable_segments/,
        "vllm 0.32.0 config/vllm.py",
      ),
    ],
  },
];
