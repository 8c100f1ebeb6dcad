import type { CauseRule } from "../rule";
import { error, hint, proof, symptom, verdict } from "../signs";

export const MODEL_SUPPORT_RULES: readonly CauseRule[] = [
  {
    cause: "TRANSFORMERS_TOO_OLD",
    summary: [
      "the installed transformers does not know the model type {modelType}",
      "the installed transformers does not know this model or its tokenizer",
    ],
    change: [
      "vllm.version: a newer one; or vllm.packages with a newer transformers (or host: upgrade it in vLLM's environment)",
    ],
    signs: [
      proof(
        /model type `(?<modelType>[^`]+)` but Transformers does not recognize this architecture/,
        "transformers 4, 5",
      ),
      proof(/does not recognize this architecture/, "transformers 4, 5"),
      proof(
        /Tokenizer class (?<modelType>\w+) does not exist or is not currently imported/,
        "transformers 4",
      ),
      proof(/data did not match any variant of untagged enum/, "tokenizers"),
      error(
        /'list' object has no attribute 'keys'/,
        "transformers 4 reads a tokenizer that transformers 5 wrote",
        {
          accepts: (_match, _line, before) => /special_tokens/.test(before),
        },
      ),
      error(/KeyError: '(?<modelType>[a-z][\w-]*)'/, "transformers CONFIG_MAPPING", {
        accepts: (_match, _line, before) =>
          /CONFIG_MAPPING\[|configuration_auto\.py/.test(before.split("\n").slice(-5).join("\n")),
      }),
      error(/cannot import name '\w+' from 'transformers/, "Python; vllm-project/vllm issues", {
        accepts: (match) => !isGoneInFive(match.input),
      }),
      error(/No module named 'transformers\.\w/, "Python"),
      error(/module 'transformers' has no attribute/, "Python"),
    ],
  },
  {
    cause: "TRANSFORMERS_TOO_NEW",
    summary: ["the installed transformers is newer than this vLLM supports"],
    change: [
      "vllm.version: a newer one; or vllm.packages with an older transformers (below 5 for old versions; or host: pin it in vLLM's environment)",
    ],
    signs: [
      proof(
        /is already used by a Transformers (?:config|model)/,
        "transformers configuration_auto.py; ROCm/gpuaidev#81",
      ),
      proof(/has no attribute '?all_special_tokens_extended/, "transformers 5 with vllm 0.11 and older"),
      proof(
        /'\w*Config' object has no attribute '(?:rope_theta|rope_scaling|max_position_embeddings|torch_dtype)'/,
        "transformers 5",
      ),
      proof(/cannot import name '\w+' from 'transformers/, "transformers 5", {
        accepts: (match) => isGoneInFive(match.input),
      }),
      error(/cannot import name '\w+' from 'huggingface_hub/, "huggingface_hub 1.x"),
    ],
  },
  {
    cause: "MODEL_CONFIG_INVALID",
    summary: ["config.json has a value that this vLLM or transformers rejects"],
    change: [
      "configOverrides or engine.hfOverrides (--hf-overrides) for the field, e.g. rope_scaling; or vllm.version: another",
    ],
    signs: [
      proof(
        /`?rope_(?:scaling|parameters)`?(?: field)?'?s? .*(?:must be|should have|missing|Missing|unknown)/,
        "transformers 4",
        {
          accepts: (match) => /Error/.test(match.input),
        },
      ),
      proof(/Missing required keys in `rope_/, "transformers 5 modeling_rope_utils.py"),
      proof(/rope_scaling.* must be a dictionary/, "transformers 4"),
      proof(/Unknown RoPE scaling type/, "vllm 0.3 to 0.33 rotary_embedding"),
      proof(/is not a valid JSON file/, "transformers configuration_utils.py"),
      proof(/StrictDataclass\w*Error/, "huggingface_hub dataclasses"),
      proof(/^ {2}[A-Z]\w*Error: /, "huggingface_hub errors.py: what the check of a field or class said", {
        accepts: (_match, _line, before) =>
          /StrictDataclass\w+Error: (?:Class v|V)alidation error for .*:\s*$/.test(before),
        isBestEvidence: true,
      }),
      proof(/Unrecognized model in .*Should have a `model_type`/, "transformers 4"),
      proof(
        /Could not determine the number of key-value attention heads/,
        "vllm 0.32.0 model_arch_config_convertor.py",
      ),
      proof(/No model architectures are specified/, "vllm 0.8 to 0.33 models/registry.py"),
      proof(/Missing 'quant_algo' in quantization config/, "vllm 0.16 to 0.33 modelopt.py"),
      proof(/quantization requires the following fields in hf_quant_config/, "vllm 0.8 to 0.33 modelopt.py"),
      error(
        /KeyError: '(?:type|rope_type|factor|original_max_position_embeddings)'/,
        "vllm 0.4 to 0.6 rotary_embedding",
      ),
      error(/assert "factor" in rope_scaling/, "vllm 0.4 to 0.8 config.py"),
      error(/Value error, Expecting value: line \d/, "Python json within pydantic; vllm-project/vllm#26161"),
      symptom(/json\.decoder\.JSONDecodeError/, "Python json"),
    ],
  },
  {
    cause: "GGUF_ARCH_UNSUPPORTED",
    summary: [
      "GGUF files of the architecture {architecture} cannot be read",
      "this GGUF file cannot be read",
    ],
    change: ["model: a safetensors checkpoint (AWQ, FP8, ...) of the same model"],
    signs: [
      proof(
        /GGUF model with architecture (?<architecture>\S+) is not supported yet/,
        "transformers modeling_gguf_pytorch_utils.py",
      ),
      proof(/Unknown gguf model_type: (?<architecture>\S+)/, "vllm 0.5 to 0.30 model_loader/gguf_loader.py"),
      proof(/Unknown architecture '?(?<architecture>[\w-]+)'? .*[Gg][Gg][Uu][Ff]/, "gguf"),
    ],
  },
  {
    cause: "TRUST_REMOTE_CODE_REQUIRED",
    summary: ["the checkpoint brings its own Python code, which must be allowed"],
    change: ["engine.trustRemoteCode: true (--trust-remote-code)"],
    signs: [
      verdict(/Please pass the argument `trust_remote_code=True`/, "transformers dynamic_module_utils.py", {
        isBestEvidence: true,
      }),
      verdict(/contains custom code which must be executed/, "transformers dynamic_module_utils.py"),
      verdict(/requires you to execute (?:custom code|the \w+ file)/, "transformers dynamic_module_utils.py"),
      verdict(/consider setting `trust_remote_code=True`/, "vllm 0.3 to 0.33 transformers_utils"),
      verdict(/set `?--trust-remote-code/, "vllm 0.3 to 0.33 transformers_utils"),
      hint(/trust_remote_code=True/, "vllm, transformers"),
    ],
  },
  {
    cause: "ARCH_UNSUPPORTED",
    summary: [
      "this vLLM does not implement the architecture {architecture}",
      "this vLLM does not implement the architecture of the model",
    ],
    change: [
      "vllm.version: one that has the architecture (newer; older when it was removed), a plugin, or another model",
    ],
    signs: [
      symptom(
        /Model architectures \['?(?<architecture>\w+)'?.*\] are not supported for now/,
        "vllm 0.3 to 0.33 models/registry.py",
      ),
      proof(/was supported in vLLM until v/, "vllm 0.10 to 0.33 models/registry.py"),
      proof(/is not supported in-tree anymore/, "vllm 0.32.0 models/registry.py"),
      proof(/has no vLLM implementation/, "vllm 0.8 to 0.33 model_loader/utils.py"),
      proof(/Model architecture '\w+' is not supported by ROCm/, "vllm 0.32.0 platforms/rocm.py"),
      symptom(/Cannot find model module/, "vllm 0.8 to 0.33 model_loader/utils.py"),
    ],
  },
];

/** Names that transformers 5 and huggingface_hub 1 took away; any other name that is missing is newer than what is installed. */
function isGoneInFive(text: string): boolean {
  return /'(?:ALLOWED_LAYER_TYPES|AutoModelForVision2Seq|is_flax_available|is_tf_available|FLAX_WEIGHTS_NAME|TF2_WEIGHTS_NAME|HfFolder|cached_download|default_cache_path|TRANSFORMERS_CACHE)'/.test(
    text,
  );
}
