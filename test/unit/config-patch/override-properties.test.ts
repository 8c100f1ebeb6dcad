import fc from "fast-check";
import { expect, test } from "vitest";
import { patchCheckpoint } from "../../../provider/src/core/config-patch";
import { isObject } from "../../../provider/src/core/config-patch/json-edit";
import type { JsonObject, JsonValue } from "../../../provider/src/core/json";

const scalar = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.string());
/** Names that are not settings' own places, and none that an object sorts by itself. */
const key = fc.stringMatching(/^[a-z_][a-z_ /~"é]{0,3}$/);
const { object } = fc.letrec<{ object: Record<string, JsonValue>; value: JsonValue }>((tie) => ({
  object: fc.dictionary(key, tie("value"), { maxKeys: 5, noNullPrototype: true }),
  value: fc.oneof({ depthSize: "small" }, scalar, fc.array(scalar, { maxLength: 3 }), tie("object")),
}));
const layout = fc.constantFrom<(value: JsonValue) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => `${JSON.stringify(value, null, "\t").replaceAll("\n", "\r\n")}\r\n`,
);

function patched(config: string, overrides: JsonObject): string | null {
  const result = patchCheckpoint({
    files: { "config.json": config },
    kvCacheDtype: "auto",
    quantizationConfigOverrides: overrides,
    configOverrides: {},
  });
  if (result.kind === "rejected") throw new Error(result.message);
  return result.files["config.json"] ?? null;
}

/** What overrides mean, said again without texts: kept keys keep their place, new ones come last. */
function merged(settings: JsonObject, overrides: JsonObject): JsonObject {
  const added = Object.fromEntries(
    Object.entries(overrides).map(([name, value]) => {
      const here = settings[name];
      return [name, isObject(here) && isObject(value) ? merged(here, value) : value];
    }),
  );
  return { ...settings, ...added };
}

test("overrides merge, and the file is written as its author would have", () => {
  fc.assert(
    fc.property(object, object, layout, (settings, overrides, write) => {
      const before = { one: 1, quantization_config: settings, last: [] };
      const after = { ...before, quantization_config: merged(settings, overrides) };
      expect(patched(write(before), overrides) ?? write(before)).toBe(write(after));
    }),
    { numRuns: 500 },
  );
});

test("overrides that say what is there change no byte, whatever the form of its numbers", () => {
  fc.assert(
    fc.property(object, layout, (settings, write) => {
      const text = write({ quantization_config: { ...settings, eps: 0.00001, one: 1 } })
        .replace("0.00001", "1e-05")
        .replace(/("one": ?)1/, "$11.0");
      expect(patched(text, { ...settings, eps: 0.00001, one: 1 })).toBeNull();
    }),
    { numRuns: 500 },
  );
});
