import { describe, expect, test } from "vitest";
import { unreadExcludeKeys } from "../../../provider/src/core/config-patch/exclude-keys";
import { KV_REQUEST_KEYS, kvRequestPlaceOf } from "../../../provider/src/core/config-patch/kv-request-places";
import { readConfigOf } from "../../../provider/src/core/config-patch/read-config";

function configOf(config: object, legacy: object | null = null): ReturnType<typeof readConfigOf> {
  return readConfigOf({
    "config.json": JSON.stringify(config),
    "hf_quant_config.json": legacy === null ? null : JSON.stringify(legacy),
  });
}

describe("the quantization config that vLLM reads", () => {
  const q = { quant_method: "fp8" };
  test.each([
    [
      { quantization_config: q, compression_config: q },
      { quantization: {} },
      "config.json /quantization_config",
    ],
    [
      { quantization_config: {}, text_config: { quantization_config: q } },
      { a: 1 },
      "config.json /quantization_config",
    ],
    [{ quantization_config: null }, { quantization: {} }, "hf_quant_config.json "],
    [
      { text_config: { quantization_config: q }, compression_config: q },
      null,
      "config.json /text_config/quantization_config",
    ],
    [{ compression_config: q }, null, "config.json /compression_config"],
    [{ thinker_config: { quantization_config: q } }, null, null],
  ])("of %j and %j is %s", (config, legacy, place) => {
    const read = configOf(config, legacy);
    expect(read === null ? null : `${read.file} ${read.pointer}`).toBe(place);
  });
});

describe("a name of excluded modules that is not read", () => {
  test.each([
    ["modelopt", { quant_algo: "FP8" }, "exclude_modules", "ignore"],
    ["modelopt_fp4", { quantization: {} }, "ignore", "exclude_modules"],
    ["mxfp8", {}, "ignore", "ignored_layers"],
    ["compressed-tensors", {}, "modules_to_not_convert", "ignore"],
    ["fp8", {}, "ignore", "ignored_layers"],
    ["awq", {}, "ignored_layers", "modules_to_not_convert"],
    ["quark", {}, "ignore", "exclude"],
    ["gptq", {}, "modules_to_not_convert", null],
    ["mxfp4", {}, "modules_to_not_convert", null],
  ])("%s %j: %s, %s instead", (quant_method, more, key, instead) => {
    const config = configOf({ quantization_config: { quant_method, ...more } });
    expect(unreadExcludeKeys({ [key]: [] }, config)).toEqual([{ key, instead }]);
    if (instead === null) return;
    expect(unreadExcludeKeys({ [instead]: [] }, config)).toEqual([]);
    // Both names are for both files of a checkpoint.
    expect(unreadExcludeKeys({ [key]: [], [instead]: [] }, config)).toEqual([]);
  });

  test("is not told of a method that no row knows", () => {
    expect(
      unreadExcludeKeys({ ignore: [] }, configOf({ quantization_config: { quant_method: "x" } })),
    ).toEqual([]);
    expect(unreadExcludeKeys({ ignore: [] }, null)).toEqual([]);
  });
});

test("only keys that every reader takes null for are set to null", () => {
  expect(KV_REQUEST_KEYS).toEqual(["kv_cache_scheme", "kv_cache_quant_algo"]);
  expect(kvRequestPlaceOf("quark", "flat", "export.kv_cache_group")).toMatchObject({ whenNull: "an error" });
  expect(kvRequestPlaceOf("modelopt_fp4", "inner", "kv_cache_quant_algo")).toMatchObject({
    counts: "with auto",
  });
  expect(kvRequestPlaceOf("awq", "flat", "kv_cache_scheme")).toBeNull();
});
