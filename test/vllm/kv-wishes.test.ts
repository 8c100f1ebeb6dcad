import { beforeAll, describe, expect, it } from "vitest";
import { patchCheckpoint } from "../../provider/src/core/config-patch";
import type { JsonObject } from "../../provider/src/core/json";
import { chooseKvCacheFlag } from "../../provider/src/core/kv-cache-flag";
import { DROPPED_METHODS } from "../../provider/src/core/kv-wish-rules-files";
import { attentionKindOf, isSixteenBit, modelDtypeOf } from "../../provider/src/core/model-config";
import { FP8_KV_CACHE, TINY_LLAMA } from "../support/checkpoints";
import { isRealVllmThere } from "../support/vllm-driver";
import { askJudge, type KvCacheAnswer, type KvCacheQuestion } from "../support/vllm-judge";

const WISHES = ["auto", "bfloat16", "float16", "fp8", "fp8_e4m3", "fp8_e5m2", "nvfp4", "bf16"];

interface Checkpoint {
  readonly name: string;
  readonly config: JsonObject;
  readonly legacy?: JsonObject;
}

const CHECKPOINTS: readonly Checkpoint[] = [
  { name: "unquantized", config: {} },
  ...Object.entries({
    "an FP8 scheme": FP8_KV_CACHE.kv_cache_scheme,
    "an INT8 scheme": { ...FP8_KV_CACHE.kv_cache_scheme, type: "int" },
    "an FP4 scheme": { ...FP8_KV_CACHE.kv_cache_scheme, num_bits: 4 },
    "an empty scheme": {},
    "no scheme": null,
  }).map(([name, kv_cache_scheme]) => ({
    name: `compressed-tensors, ${name}`,
    config: { quantization_config: { ...FP8_KV_CACHE, kv_cache_scheme } },
  })),
  {
    name: "FP8 blocks",
    config: {
      quantization_config: {
        quant_method: "fp8",
        activation_scheme: "dynamic",
        weight_block_size: [128, 128],
      },
    },
  },
  ...["FP8", "NVFP4", "INT8", "static", "", null].map((kv_cache_scheme) => ({
    name: `ModelOpt, ${JSON.stringify(kv_cache_scheme)}`,
    config: {
      quantization_config: { quant_method: "modelopt", quant_algo: "FP8", ignore: [], kv_cache_scheme },
    },
  })),
  ...["FP8", "NVFP4", "FP8_PB_WO", "MIXED_PRECISION", "MXFP8", "W4A16_NVFP4", "W4A16_AWQ"].map(
    (quant_algo) => ({
      name: `hf_quant_config.json, ${quant_algo}`,
      config: {},
      legacy: {
        producer: { name: "modelopt" },
        quantization: { quant_algo, kv_cache_quant_algo: "FP8", group_size: 16, exclude_modules: [] },
      },
    }),
  ),
  {
    name: "AWQ",
    config: { quantization_config: { quant_method: "awq", bits: 4, group_size: 128, zero_point: true } },
  },
  { name: "MXFP4", config: { quantization_config: { quant_method: "mxfp4" } } },
  ...DROPPED_METHODS.map((quant_method) => ({
    name: quant_method,
    config: { quantization_config: { quant_method } },
  })),
];

const questions = CHECKPOINTS.flatMap((checkpoint) => WISHES.map((wish) => questionOf(checkpoint, wish)));
let answers: readonly KvCacheAnswer[] = [];

describe.skipIf(!isRealVllmThere)("what vLLM 0.32.0 makes of a wish, told before the start", () => {
  beforeAll(() => {
    answers = askJudge(questions);
  }, 600_000);

  it.each(questions.map((question, index) => ({ ...question, index })))(
    "$name: $wish",
    ({ index, wish, codes }) => {
      const answer = answers[index];
      const told = codes.filter((code) => code !== "kv-request-not-known");
      expect({ error: answer?.error ?? null, told }).toEqual(
        told.length === 0 ? { error: null, told } : { error: expect.any(String), told },
      );
      if (answer?.error !== null) return;
      if (wish !== "auto") expect(granted(answer, wish)).toBe(wish);
    },
  );

  it("follows what the files ask for where nothing is wished", () => {
    const followed = questions.flatMap(({ name, wish, codes }, index) => {
      const resolves = answers[index]?.resolves ?? null;
      return wish !== "auto" || resolves === null || (resolves === "auto" && codes.length === 0)
        ? []
        : [[name, resolves, ...codes].join(" ")];
    });
    expect(followed).toEqual([
      "compressed-tensors, an FP8 scheme fp8",
      'ModelOpt, "FP8" fp8_e4m3',
      'ModelOpt, "NVFP4" nvfp4',
      'ModelOpt, "INT8" auto kv-request-not-known',
      'ModelOpt, "static" auto kv-request-not-known',
      "hf_quant_config.json, FP8 fp8_e4m3",
      "hf_quant_config.json, NVFP4 fp8_e4m3",
      "hf_quant_config.json, FP8_PB_WO fp8_e4m3",
    ]);
  });
});

/** "auto" is the model's own dtype. */
function granted({ resolves, modelDtype }: KvCacheAnswer, wish: string): string | null {
  return resolves === "auto" && isSixteenBit(wish) ? modelDtype : resolves;
}

interface Question extends KvCacheQuestion {
  readonly name: string;
  readonly wish: string;
  /** Codes of our warnings. */
  readonly codes: readonly string[];
}

function questionOf({ name, config, legacy }: Checkpoint, wish: string): Question {
  const texts = {
    "config.json": JSON.stringify({ ...TINY_LLAMA, ...config }),
    ...(legacy === undefined ? {} : { "hf_quant_config.json": JSON.stringify(legacy) }),
  };
  const patch = patchCheckpoint({
    files: texts,
    kvCacheDtype: wish,
    quantizationConfigOverrides: {},
    configOverrides: {},
  });
  if (patch.kind === "rejected") throw new Error(patch.message);
  const files = { ...texts, ...patch.files };
  const configText = files["config.json"];
  const { flag, warnings } = chooseKvCacheFlag({
    wish,
    vllmVersion: "0.32.0",
    modelDtype: modelDtypeOf(configText),
    dtypeArgument: null,
    attentionKind: attentionKindOf(configText),
    files,
  });
  return { name, wish, files, flag, dtype: null, capability: null, codes: warnings.map(({ code }) => code) };
}
