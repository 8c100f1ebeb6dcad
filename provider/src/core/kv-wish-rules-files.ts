import { isObject } from "./config-patch/json-edit";
import { isOfMethod } from "./config-patch/read-config";
import { checkedScheme, isBefore, isMla, type KvSituation, modelOptRequest } from "./kv-cache-situation";
import type { KvWishRule } from "./kv-wish-rule";
import { isSixteenBit } from "./model-config";

/** Quantization methods that older versions loaded and vLLM 0.32.0 refuses by name. Source: model_executor/layers/quantization/__init__.py. */
export const DROPPED_METHODS: readonly string[] = [
  "aqlm",
  "bitblas",
  "bitsandbytes",
  "deepspeedfp",
  "gguf",
  "gptq_bitblas",
  "gptq_marlin_24",
  "hqq",
  "ipex",
  "marlin",
  "neuron_quant",
  "ptpc_fp8",
  "qqq",
  "tpu_int8",
];

/** Algorithms of ModelOpt's first form that vLLM loads where the producer is named. Source: vllm 0.32.0 transformers_utils/model_arch_config_convertor.py:279. */
const LEGACY_ALGORITHMS = ["FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO", "NVFP4"];

function legacyAlgorithm({ config }: KvSituation): string | null {
  const producer = config?.value("producer");
  const isNamed = isObject(producer) && producer["name"] === "modelopt";
  return config?.form === "inner" && isNamed && !LEGACY_ALGORITHMS.includes(config.algorithm ?? "")
    ? config.algorithm
    : null;
}

/** A scheme that is not the one vLLM has: 8-bit float. */
function isForeignScheme(situation: KvSituation): boolean {
  const scheme = checkedScheme(situation);
  return scheme !== null && !(isObject(scheme) && scheme["num_bits"] === 8 && scheme["type"] === "float");
}

export const DECIDED_BY_FILES: readonly KvWishRule[] = [
  {
    row: "an INT8 or other scheme of compressed-tensors",
    code: "kv-scheme-refused",
    holds: (situation) =>
      isForeignScheme(situation) && !isBefore(situation.version, [0, 17]) && !isSixteenBit(situation.wish),
    message:
      "the checkpoint's kv_cache_scheme is none that vLLM has (8-bit float) and is refused whatever the flag is: kvCacheDtype bfloat16 or float16 takes it away, and so does quantizationConfigOverrides: { kv_cache_scheme: null }",
    fails: { since: [0, 32], before: [0, 34] },
    change: 'kvCacheDtype: "bfloat16"   (or quantizationConfigOverrides: { kv_cache_scheme: null })',
    source: "vllm 0.32.0 compressed_tensors/compressed_tensors.py:1103; 0.16.0 takes it for fp8",
  },
  {
    row: "fp8_e5m2 beside a scheme",
    code: "kv-scheme-refused",
    holds: (situation) =>
      situation.wish === "fp8_e5m2" && checkedScheme(situation) !== null && !isForeignScheme(situation),
    message:
      "vLLM refuses fp8_e5m2 as long as the checkpoint has a kv_cache_scheme: add quantizationConfigOverrides: { kv_cache_scheme: null }",
    fails: { since: [0, 32], before: [0, 34] },
    change: "quantizationConfigOverrides: { kv_cache_scheme: null }",
    source: "vllm 0.32.0 model_executor/layers/attention/attention.py:217",
  },
  {
    row: "fp8_e5m2 on a checkpoint with scales",
    code: "kv-scheme-refused",
    holds: (situation) =>
      situation.wish === "fp8_e5m2" &&
      !isMla(situation) &&
      isOfMethod(situation.config, "fp8", "modelopt", "modelopt_fp4"),
    message: "vLLM refuses fp8_e5m2 on FP8 and ModelOpt checkpoints: fp8_e4m3 is what they are made for",
    fails: { since: [0, 32], before: [0, 34] },
    change: 'kvCacheDtype: "fp8_e4m3"',
    source: "vllm 0.32.0 model_executor/layers/attention/attention.py:217, fp8.py:207, modelopt.py",
  },
  {
    row: "Qwen4Exp beside a scheme",
    code: "kv-scheme-refused",
    holds: (situation) =>
      situation.architecture?.startsWith("Qwen4Exp") === true &&
      checkedScheme(situation) !== null &&
      !isSixteenBit(situation.wish),
    message:
      "Qwen4Exp refuses any kv_cache_scheme, with every flag: add quantizationConfigOverrides: { kv_cache_scheme: null }",
    fails: { since: [0, 32], before: [0, 34] },
    change: "quantizationConfigOverrides: { kv_cache_scheme: null }",
    source: "vllm 0.32.0 models/qwen4_exp/nvidia/qsa.py:365",
  },
  {
    row: "a request that vLLM does not know",
    code: "kv-request-not-known",
    holds: (situation) => situation.wish === "auto" && modelOptRequest(situation) === "unknown",
    message:
      "the checkpoint asks for a KV cache that vLLM does not know (it knows FP8 and NVFP4): it gets the model's own dtype",
    source: "vllm 0.32.0 utils/torch_utils.py:483-509, a warning in its log",
  },
  {
    row: "an NVFP4 request before 0.17",
    code: "kv-request-not-known",
    holds: (situation) =>
      situation.wish === "auto" &&
      modelOptRequest(situation) === "nvfp4" &&
      isBefore(situation.version, [0, 17]),
    message:
      "the checkpoint asks for an NVFP4 KV cache, which this vLLM does not know: it gets the model's own dtype",
    source: "vllm 0.16.0 utils/torch_utils.py",
  },
  {
    row: "a dropped quantization method",
    code: "quantization-refused",
    holds: ({ config, version }) => isOfMethod(config, ...DROPPED_METHODS) && !isBefore(version, [0, 32]),
    message: "this vLLM no longer loads checkpoints of that quantization method",
    source: "vllm 0.32.0 config/model.py:1454 Unknown quantization method",
  },
  {
    row: "mixed precision in ModelOpt's first form",
    code: "quantization-refused",
    holds: (situation) =>
      legacyAlgorithm(situation) === "MIXED_PRECISION" && isBefore(situation.version, [0, 33]),
    message: "vLLM before 0.33 does not load MIXED_PRECISION from hf_quant_config.json",
    fails: { since: [0, 32], before: [0, 33] },
    change: "vllm.version 0.33.0 or newer",
    source: "vllm 0.32.0 transformers_utils/model_arch_config_convertor.py:290, taken by 0.33.0",
  },
  {
    row: "another algorithm in ModelOpt's first form",
    code: "quantization-refused",
    holds: (situation) => !["MIXED_PRECISION", null].includes(legacyAlgorithm(situation)),
    message: `of ModelOpt's hf_quant_config.json vLLM loads ${LEGACY_ALGORITHMS.join(", ")}`,
    fails: { since: [0, 32], before: [0, 34] },
    change: "model   (a checkpoint that is quantized otherwise)",
    source: "vllm 0.32.0 and 0.33.0 transformers_utils/model_arch_config_convertor.py:290",
  },
];
