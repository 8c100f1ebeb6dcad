import { describe, expect, test } from "vitest";
import { patchCheckpoint } from "../../provider/src/core/config-patch";
import type { JsonValue } from "../../provider/src/core/json";
import { CONFIG_PATCH_CASES } from "../support/config-patch-cases";

const layouts: readonly (readonly [string, (value: JsonValue) => string])[] = [
  ["two spaces", (value) => `${JSON.stringify(value, null, 2)}\n`],
  ["one line", (value) => JSON.stringify(value)],
  ["tabs and CRLF", (value) => JSON.stringify(value, null, "\t").replaceAll("\n", "\r\n")],
];

describe.each(layouts)("checkpoints written with %s", (_layout, write) => {
  test.each(CONFIG_PATCH_CASES.map((one) => [one.id, one] as const))("%s", (_id, one) => {
    const files = Object.fromEntries(Object.entries(one.files).map(([name, value]) => [name, write(value)]));
    const result = patchCheckpoint({
      files: { "hf_quant_config.json": null, ...files },
      kvCacheDtype: one.kvCacheDtype,
      quantizationConfigOverrides: one.quantizationConfigOverrides ?? {},
      configOverrides: one.configOverrides ?? {},
    });

    if (one.expect.rejected !== false) {
      expect(result).toMatchObject({ kind: "rejected", code: one.expect.rejected });
      return;
    }
    if (result.kind !== "patched") throw new Error(result.message);
    // Whole texts, so that key order counts and a file that does not change is absent.
    const wanted = Object.entries(one.expect.filesAfter).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(one.files[name]),
    );
    expect(result.files).toEqual(Object.fromEntries(wanted.map(([name, value]) => [name, write(value)])));
    expect(result.warnings.map((warning) => warning.code)).toEqual(one.expect.warnings);
    if (one.expect.changed.every((place) => !place.endsWith("(overrides)"))) {
      expect(result.changes.map((change) => `${change.file}#${change.pointer}`)).toEqual(one.expect.changed);
    }
  });
});
