import { describe, expect, test } from "vitest";
import { chooseKvCacheFlag } from "../../provider/src/core/kv-cache-flag";
import { attentionKindOf, modelDtypeOf } from "../../provider/src/core/model-config";

const base = {
  wish: "bfloat16",
  vllmVersion: "0.32.0",
  modelDtype: "bfloat16",
  dtypeArgument: null,
} as const;

describe("chooseKvCacheFlag", () => {
  test.each([
    ["auto is no flag", { wish: "auto" }, null, []],
    ["any other wish is passed as it is", { wish: "fp8_e5m2", vllmVersion: "0.14.0" }, "fp8_e5m2", []],
    ["a 16-bit wish is passed where vLLM takes it", {}, "bfloat16", []],
    ["an unknown version is taken for a new one", { vllmVersion: null }, "bfloat16", []],
    ["before 0.18 the model's own dtype is left to auto", { vllmVersion: "0.16.0rc2.dev3+g1" }, null, []],
    [
      "before 0.18 another dtype must be said",
      { vllmVersion: "0.17.1", modelDtype: "float16" },
      "bfloat16",
      [],
    ],
    [
      "before 0.18 float16 is unknown",
      { wish: "float16", vllmVersion: "0.16.0" },
      null,
      ["kv-dtype-unknown-to-version"],
    ],
    [
      "--dtype half makes float16 the model's own",
      { wish: "float16", vllmVersion: "0.16.0", dtypeArgument: "half" },
      null,
      [],
    ],
    [
      "from 0.33 a dtype that is not the model's is refused",
      { wish: "float16", vllmVersion: "0.33.0" },
      "float16",
      ["kv-dtype-refused"],
    ],
    [
      "--dtype float16 makes it right again",
      { wish: "float16", vllmVersion: "0.33.0", dtypeArgument: "float16" },
      "float16",
      [],
    ],
    ["--dtype auto says nothing", { vllmVersion: "0.33.0", dtypeArgument: "auto" }, "bfloat16", []],
    [
      "a model dtype that is not known is no mismatch",
      { vllmVersion: "0.33.0", modelDtype: null },
      "bfloat16",
      [],
    ],
    ["a float32 model is no mismatch", { vllmVersion: "0.33.0", modelDtype: "float32" }, "bfloat16", []],
    [
      "a build that does not know its version is taken for a new one",
      { wish: "float16", modelDtype: "float16", vllmVersion: "0.1.dev1+gabcdef0" },
      "float16",
      [],
    ],
    ["the CPU build is left to auto", { vllmVersion: "0.32.0+cpu" }, null, []],
    [
      "sparse MLA may lose the wish",
      { attentionKind: "sparse-mla" },
      "bfloat16",
      ["kv-dtype-decided-by-model"],
    ],
    [
      "DeepSeek-V4 decides itself",
      { attentionKind: "deepseek-v4" },
      "bfloat16",
      ["kv-dtype-decided-by-model"],
    ],
  ] as const)("%s", (_rule, input, flag, warnings) => {
    const chosen = chooseKvCacheFlag({ ...base, ...input });
    expect({ flag: chosen.flag, warnings: chosen.warnings.map((warning) => warning.code) }).toEqual({
      flag,
      warnings,
    });
  });
});

test.each([
  [{ torch_dtype: "bfloat16" }, "bfloat16"],
  [{ dtype: "float16", torch_dtype: "bfloat16" }, "float16"],
  [{ text_config: { dtype: "torch.bfloat16" } }, "bfloat16"],
  [{ thinker_config: { text_config: { torch_dtype: "float32" } } }, "float32"],
  [{ torch_dtype: null }, null],
  [{ torch_dtype: "float8_e4m3fn" }, null],
])("the model dtype of %j is %s", (config, dtype) => {
  expect(modelDtypeOf(JSON.stringify(config))).toBe(dtype);
});

test("a config.json that is missing or broken has no dtype", () => {
  expect([modelDtypeOf(null), modelDtypeOf("{")]).toEqual([null, null]);
});

test.each([
  [{ model_type: "llama" }, "attention"],
  [{ model_type: "deepseek_v3", kv_lora_rank: 512 }, "dense-mla"],
  [{ text_config: { kv_lora_rank: 512 } }, "dense-mla"],
  [{ model_type: "glm_moe_dsa", kv_lora_rank: 512, index_topk: 2048 }, "sparse-mla"],
  [{ model_type: "deepseek_v4", index_topk: 512 }, "deepseek-v4"],
])("%j attends as %s", (config, kind) => {
  expect(attentionKindOf(JSON.stringify(config))).toBe(kind);
});
