import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../support/patch-command";

/** Python tells 1 and 1.0 apart, and so do readers of these files: numbers are written as whoever wrote them did. */

const CONFIG = `{
  "scale": 8,
  "rope_theta": 10000.0,
  "eps": 1e-05,
  "quantization_config": {"quant_method": "compressed-tensors", "factor": 0.5, "ignore": []}
}
`;

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "patch-numbers-")));
  mkdirSync(join(folder, "ck"));
  writeFileSync(join(folder, "ck/config.json"), CONFIG);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function patched(overrides: string): Promise<{ readonly written: string; readonly said: string }> {
  writeFileSync(join(folder, "overrides.json"), overrides);
  const words = ["--kv-cache-dtype", "auto", "--overrides", "overrides.json", "--out", "out", "--json"];
  const { code, out, err } = await runProgram(["patch", "ck", ...words], folder);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return { written: readFileSync(join(folder, "out/config.json"), "utf8"), said: out };
}

test("numbers of the overrides file keep their form, replaced, added and in lists", async () => {
  const { written, said } = await patched(`{
    "configOverrides": {"scale": 1.0, "eps": 2E-6, "new": {"a": [1.0, 1, 10.50], "b": -0.0}},
    "quantizationConfigOverrides": {"factor": 1.00, "deep": {"x": 1e3}}
  }`);
  expect(written).toBe(`{
  "scale": 1.0,
  "rope_theta": 10000.0,
  "eps": 2E-6,
  "quantization_config": {"quant_method": "compressed-tensors", "factor": 1.00, "ignore": [], "deep": {"x": 1e3}},
  "new": {
    "a": [
      1.0,
      1,
      10.50
    ],
    "b": -0.0
  }
}
`);
  expect(said).toContain('"a": [\n      1.0,');
});

test("a plain integer takes the form of the float that it replaces", async () => {
  const { written } = await patched('{"factor": 1}');
  expect(written).toBe(CONFIG.replace("0.5", "1.0"));
});

test("a whole quantization config that the checkpoint has not keeps them too", async () => {
  writeFileSync(join(folder, "ck/config.json"), '{\n  "a": 1\n}\n');
  const { written } = await patched('{"quant_method": "mine", "clip": 1.0, "bits": 8}');
  expect(written).toBe(
    '{\n  "a": 1,\n  "quantization_config": {\n    "quant_method": "mine",\n    "clip": 1.0,\n    "bits": 8\n  }\n}\n',
  );
});

test("--json keeps them beside a NaN, which becomes its name", async () => {
  writeFileSync(join(folder, "ck/config.json"), CONFIG.replace("10000.0", "NaN"));
  const { written, said } = await patched('{"factor": 2}');
  expect(written).toContain('"rope_theta": NaN');
  expect(said).toContain('"rope_theta": "NaN",\n  "eps": 1e-05');
  expect(said).toContain('"factor": 2.0');
});
