import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { patchCheckpoint, type PatchResult } from "../../../provider/src/core/config-patch";
import type { JsonObject, JsonValue } from "../../../provider/src/core/json";

interface Wish {
  readonly legacy?: string | null;
  readonly dtype?: string;
  readonly overrides?: JsonObject;
  readonly config?: JsonObject;
}

function patch(config: string | null, wish: Wish = {}): PatchResult {
  return patchCheckpoint({
    files: { "config.json": config, "hf_quant_config.json": wish.legacy ?? null },
    kvCacheDtype: wish.dtype ?? "bfloat16",
    quantizationConfigOverrides: wish.overrides ?? {},
    configOverrides: wish.config ?? {},
  });
}

function patchedConfig(config: string, wish: Wish = {}): string {
  const result = patch(config, wish);
  if (result.kind === "rejected") throw new Error(result.message);
  return result.files["config.json"] ?? config;
}

describe("a 16-bit wish", () => {
  test("finds quantization configs in *_config objects at any depth, not in arrays and not elsewhere", () => {
    const request = { kv_cache_scheme: "FP8" };
    const before = {
      a_config: { b_config: { quantization_config: request } },
      list_config: [{ quantization_config: request }],
      other: { quantization_config: request },
    };
    const after = { ...before, a_config: { b_config: { quantization_config: { kv_cache_scheme: null } } } };
    expect(JSON.parse(patchedConfig(JSON.stringify(before)))).toEqual(after);
  });

  test("finds a quantization config inside another one", () => {
    const text = '{"compression_config": {"quantization_config": {"kv_cache_scheme": {"num_bits": 8}}}}';
    const overrides = { ignore: ["a"] };
    expect(patchedConfig(text, { overrides })).toBe(
      '{"compression_config": {"quantization_config": {"kv_cache_scheme": null, "ignore": ["a"]}, "ignore": ["a"]}}',
    );
    expect(patchedConfig(text, { overrides: { quantization_config: null } })).toBe(
      '{"compression_config": {"quantization_config": null}}',
    );
  });

  test("says what changed from what", () => {
    const result = patch('{"a/b_config": {"quantization_config": {"kv_cache_scheme": {"num_bits": 8}}}}');
    expect(result).toEqual({
      kind: "patched",
      files: { "config.json": '{"a/b_config": {"quantization_config": {"kv_cache_scheme": null}}}' },
      changes: [
        {
          file: "config.json",
          pointer: "/a~1b_config/quantization_config/kv_cache_scheme",
          from: { num_bits: 8 },
          to: null,
          isNew: false,
        },
      ],
      warnings: [],
    });
  });

  test("changes the last of a repeated key, which is the one Python reads", () => {
    const text = '{"quantization_config": {"kv_cache_scheme": "FP8", "kv_cache_scheme": "FP8"}}';
    const after = '{"quantization_config": {"kv_cache_scheme": "FP8", "kv_cache_scheme": null}}';
    expect(patchedConfig(text)).toBe(after);
  });

  test("keeps every other byte: number forms, unicode, escapes, CRLF, tabs, NaN, no last newline", () => {
    const around =
      '{\r\n\t"eps": 1e-05, "one": 1.0,\r\n\t"big": 12345678901234567890,\r\n\t"名": "caf\\u00e9 \\"NaN\\"", "inf": -Infinity, "nan": NaN,\r\n';
    const text = `${around}\t"quantization_config": {"kv_cache_quant_algo" : "FP8"}\r\n}`;
    expect(patchedConfig(text)).toBe(`${around}\t"quantization_config": {"kv_cache_quant_algo" : null}\r\n}`);
  });

  test("needs no config.json", () => {
    const result = patch(null, { legacy: '{"quantization":{"kv_cache_quant_algo":"FP8"}}' });
    expect(result).toMatchObject({
      files: { "hf_quant_config.json": '{"quantization":{"kv_cache_quant_algo":null}}' },
    });
  });
});

describe("overrides", () => {
  test("come after the 16-bit wish: what they add to a request that was made null is one change", () => {
    const text = '{"quantization_config": {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}}';
    const overrides = { kv_cache_scheme: "" };
    expect(patch(text, { overrides })).toEqual({
      kind: "patched",
      files: { "config.json": '{"quantization_config": {"kv_cache_scheme": ""}}' },
      changes: [
        {
          file: "config.json",
          pointer: "/quantization_config/kv_cache_scheme",
          from: { num_bits: 8, type: "float" },
          to: "",
          isNew: false,
        },
      ],
      warnings: [],
    });
  });

  test.each([
    [{ kv_cache_scheme: { num_bits: 8 } }, "quantizationConfigOverrides.kv_cache_scheme"],
    [{ kv_cache_scheme: {} }, "quantizationConfigOverrides.kv_cache_scheme"],
    [{ kv_cache_quant_algo: "FP8" }, "quantizationConfigOverrides.kv_cache_quant_algo"],
    [
      { quantization: { kv_cache_quant_algo: "FP8" } },
      "quantizationConfigOverrides.quantization.kv_cache_quant_algo",
    ],
    [
      { quantization_config: { quantization: { kv_cache_scheme: "FP8" } } },
      "quantizationConfigOverrides.quantization_config.quantization.kv_cache_scheme",
    ],
  ])("that ask for a quantized KV cache contradict a 16-bit wish: %j", (overrides, path) => {
    expect(patch('{"quantization_config": {}}', { overrides })).toEqual({
      kind: "rejected",
      code: "overrides-contradict-kv-cache-dtype",
      message: `Cannot apply ${path}: it asks for a quantized KV cache and kvCacheDtype asks for bfloat16, need one of them`,
      path,
    });
    expect(patch('{"quantization_config": {}}', { overrides, dtype: "fp8" }).kind).toBe("patched");
  });

  test("names of Object.prototype are keys like others", () => {
    const text = '{"quantization_config": {"__proto__": {"a": 1}, "constructor": 5}}';
    const overrides = JSON.parse('{"__proto__": {"b": 2}, "constructor": {"x": 1}, "toString": null}');
    expect(patchedConfig(text, { dtype: "auto", overrides })).toBe(
      '{"quantization_config": {"__proto__": {"a": 1, "b": 2}, "constructor": {"x": 1}, "toString": null}}',
    );
  });

  test("NaN and the infinities are floats, and what replaces them too", () => {
    const config = { a: 1, b: 2, c: 3 };
    expect(patchedConfig('{"a": NaN, "b": Infinity, "c": -Infinity}', { dtype: "auto", config })).toBe(
      '{"a": 1.0, "b": 2.0, "c": 3.0}',
    );
  });

  test("new keys come last, in the style of the file, floats stay floats, equal values are no change", () => {
    const text = '{\n    "a": 1.5,\n    "same": 1e-05,\n    "text_config": {}\n}\n';
    const config = { a: 2, same: 0.00001, text_config: { b: [1, { c: null }] }, d: "é" };
    const after =
      '{\n    "a": 2.0,\n    "same": 1e-05,\n    "text_config": {\n        "b": [\n            1,\n            {\n                "c": null\n            }\n        ]\n    },\n    "d": "é"\n}\n';
    expect(patchedConfig(text, { dtype: "auto", config })).toBe(after);
  });

  test.each([
    ['{"a": {}}', '{"a": {"b": 1}, "c": {"d": 2}}'],
    ['{"a":{}}', '{"a":{"b":1},"c":{"d":2}}'],
    ["{}", '{"a": {"b": 1}, "c": {"d": 2}}'],
    ["{ }", '{"a": {"b": 1}, "c": {"d": 2}}'],
  ])("a one-line file stays on one line: %s", (text, after) => {
    expect(patchedConfig(text, { dtype: "auto", config: { a: { b: 1 }, c: { d: 2 } } })).toBe(after);
  });
});

describe("rejected", () => {
  test.each([
    ["{", {}, "file-not-json", "config.json"],
    ["[1]", {}, "file-not-json", "config.json"],
    ["{} // comment", {}, "file-not-json", "config.json"],
    [null, { dtype: "auto", config: { a: 1 } }, "config-json-missing", "configOverrides"],
    [
      null,
      { dtype: "auto", overrides: { quant_method: "fp8" } },
      "config-json-missing",
      "quantizationConfigOverrides",
    ],
    [
      "{}",
      { config: { text_config: { quantization_config: {} } } },
      "quantization-config-in-config-overrides",
      "configOverrides.text_config.quantization_config",
    ],
  ] as const)("%s with %j: %s", (config, wish, code, path) => {
    expect(patch(config, wish)).toMatchObject({ kind: "rejected", code, path });
  });

  test.each([
    ["\uFEFF{}", "found a byte order mark in front, need a JSON object"],
    ["", "found no JSON from line 1, column 1 on (ValueExpected), need a JSON object"],
    ["null", "found JSON that is no object (null), need one"],
    ['{\n  "a": 1,\n}', "found no JSON from line 3, column 1 on (PropertyNameExpected), need a JSON object"],
    ['{"a": 1 // x\n}', "found no JSON from line 1, column 9 on (InvalidCommentToken), need a JSON object"],
    ['{"a": "x\ty"}', "found no JSON from line 1, column 7 on (InvalidCharacter), need a JSON object"],
  ])("%j is refused as Python refuses it, and the place is told", (config, told) => {
    expect(patch(config)).toMatchObject({ message: `Cannot patch config.json: ${told}` });
  });

  test("a broken file is nobody's business when nothing is asked for", () => {
    expect(patch("{", { dtype: "auto" })).toEqual({ kind: "patched", files: {}, changes: [], warnings: [] });
  });
});

const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string(),
);
const key = fc.oneof(
  fc.constantFrom(
    "quantization_config",
    "compression_config",
    "quantization",
    "kv_cache_scheme",
    "kv_cache_quant_algo",
    "text_config",
  ),
  fc.string({ minLength: 1, maxLength: 4 }),
);
const { object } = fc.letrec<{ object: Record<string, JsonValue>; value: JsonValue }>((tie) => ({
  object: fc.dictionary(key, tie("value"), { maxKeys: 5, noNullPrototype: true }),
  value: fc.oneof({ depthSize: "small" }, scalar, fc.array(scalar, { maxLength: 3 }), tie("object")),
}));
const layout = fc.constantFrom<(value: JsonValue) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => `${JSON.stringify(value, null, "\t").replaceAll("\n", "\r\n")}\r\n`,
);

test("patching what was patched changes nothing more", () => {
  fc.assert(
    fc.property(
      object,
      object,
      object,
      fc.constantFrom("auto", "bfloat16"),
      layout,
      (config, overrides, rest, dtype, write) => {
        const wish = { legacy: write(rest), dtype, overrides, config: rest };
        const first = patch(write(config), wish);
        // Such keys in the overrides open a new place for settings; they are warned about.
        fc.pre(!/"(quantization|quantization_config|compression_config)":/.test(JSON.stringify(overrides)));
        if (first.kind !== "patched") return;
        const again = patch(first.files["config.json"] ?? write(config), {
          ...wish,
          legacy: first.files["hf_quant_config.json"] ?? wish.legacy,
        });
        expect(again).toMatchObject({ kind: "patched", files: {}, changes: [] });
      },
    ),
    { numRuns: 500 },
  );
});

test("a 16-bit wish changes nothing but requests, and leaves none", () => {
  fc.assert(
    fc.property(object, layout, (config, write) => {
      const result = patch(write(config));
      if (result.kind !== "patched") throw new Error(result.message);
      for (const { pointer, to } of result.changes) {
        expect(pointer).toMatch(
          /\/(quantization_config|compression_config)(\/quantization)?\/kv_cache_(scheme|quant_algo)$/,
        );
        expect(to).toBeNull();
      }
      const expected = result.changes.reduce(
        (tree, { pointer }) => nulled(tree, pointer.slice(1).split("/")),
        config,
      );
      expect(result.files["config.json"] ?? write(config)).toBe(write(expected));
    }),
    { numRuns: 500 },
  );
});

function nulled(tree: JsonObject, path: readonly string[]): Record<string, JsonValue> {
  const [head = "", ...rest] = path.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const inner = tree[head];
  const isObject = inner !== null && typeof inner === "object" && !Array.isArray(inner);
  return { ...tree, [head]: isObject && rest.length > 0 ? nulled(inner as JsonObject, path.slice(1)) : null };
}
