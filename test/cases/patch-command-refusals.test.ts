import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROGRAM, runProgram } from "../support/patch-command";

let folder = "";
const CONFIG =
  '{\n  "torch_dtype": "bfloat16",\n  "eps": 1e-05,\n  "big": 12345678901234567890,\n  "quantization_config": {"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8}, "ignore": []}\n}\n';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "patch-refusals-")));
  mkdirSync(join(folder, "ck"));
  put("ck/config.json", CONFIG);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

describe("a command line that is not right ends with 2 and tells all that is wrong", () => {
  test.each([
    [[], ["no command is given"]],
    [["pach"], ['there is no command "pach"']],
    [["patch"], ["DIR, the folder of the checkpoint, is missing", "--kv-cache-dtype is missing"]],
    [
      ["patch", "ck", "more", "--kv-cache-dtype"],
      ['"more" is one word too many', "--kv-cache-dtype needs a value"],
    ],
    [
      ["patch", "ck", "-x", "--outt=a", "--kv-cache-dtype=", "--vllm-version", "new"],
      [
        "-x is no option",
        "--outt is no option",
        "--kv-cache-dtype needs a value",
        '--vllm-version is "new", need one like 0.32.0',
      ],
    ],
    [
      ["patch", "ck", "--kv-cache-dtype", "auto", "--kv-cache-dtype", "auto", "--json=1"],
      ["--kv-cache-dtype is given more than once", "--json takes no value"],
    ],
  ])("%j", async (words, problems) => {
    const { code, out, err } = await runProgram(words, folder);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const problem of problems) expect(err).toContain(problem);
  });

  test("as JSON too, where JSON is asked for", async () => {
    const { code, out } = await runProgram(["patch", "--json"], folder);
    expect({ code, said: JSON.parse(out) }).toEqual({
      code: 2,
      said: {
        error: {
          code: "usage",
          message: "DIR, the folder of the checkpoint, is missing; --kv-cache-dtype is missing",
        },
      },
    });
  });
});

test.each([["--help"], ["patch", "--help"]])("%s is no failure", async (...words) => {
  const { code, out, err } = await runProgram(words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^usage: pulumi-vllm /);
});

describe("what cannot be done ends with 1, says why, and writes nothing", () => {
  test.each([
    ["checkpoint-not-found", "none", [], "no such file or directory"],
    ["checkpoint-not-found", "empty", [], "found no config.json and no hf_quant_config.json"],
    ["checkpoint-not-found", "ck/config.json", [], "not a directory"],
    ["checkpoint-not-readable", "latin", [], "encoded data"],
    ["file-not-json", "broken", [], "line 1, column 2"],
    ["output-inside-checkpoint", "ck", ["--out", "ck/out"], "never written"],
    ["output-inside-checkpoint", "ck", ["--out", "ck"], "never written"],
    ["output-inside-checkpoint", "ck", ["--out", "alias/deep/out"], "never written"],
    ["output-not-empty", "ck", ["--out", "full"], "found a in it"],
    ["output-not-empty", "ck", ["--out", "full/a"], "no folder"],
    ["output-not-empty", "ck", ["--out", "dangling"], "no folder"],
    ["output-not-writable", "ck", ["--out", "full/a/out"], "not a directory"],
    ["overrides-not-readable", "ck", ["--overrides", "none"], "no such file or directory"],
    ["overrides-not-valid", "ck", ["--overrides", "broken/config.json"], "found no JSON"],
    ["overrides-not-valid", "ck", ["--overrides", "list.json"], "array"],
    ["overrides-not-valid", "ck", ["--overrides", "mixed.json"], "found ignore beside"],
    ["overrides-not-valid", "ck", ["--overrides", "number.json"], "found 12345678901234567890"],
    ["overrides-not-valid", "ck", ["--overrides", "five.json"], "configOverrides that is a number"],
    [
      "overrides-contradict-kv-cache-dtype",
      "ck",
      ["--overrides", "fp8.json"],
      "kvCacheDtype asks for bfloat16",
    ],
    [
      "quantization-config-in-config-overrides",
      "ck",
      ["--overrides", "misplaced.json"],
      "quantizationConfigOverrides",
    ],
    [
      "overrides-without-quantization-config",
      "plain",
      ["--overrides", "ignore.json"],
      "no quantization config",
    ],
  ])("%s: %s %j", async (code, checkpoint, more, text) => {
    for (const name of ["empty", "full", "broken", "latin", "plain"]) mkdirSync(join(folder, name));
    put("full/a", "");
    put("broken/config.json", "{");
    put("plain/config.json", "{}");
    writeFileSync(join(folder, "latin/config.json"), Buffer.from([0x7b, 0xe9, 0x7d]));
    put("list.json", "[1]");
    put("mixed.json", '{"configOverrides": {}, "ignore": []}');
    put("number.json", '{"seed": 12345678901234567890}');
    put("five.json", '{"configOverrides": 5}');
    put("fp8.json", '{"kv_cache_scheme": {"num_bits": 8}}');
    put("misplaced.json", '{"configOverrides": {"quantization_config": {}}}');
    put("ignore.json", '{"ignore": ["a"]}');
    symlinkSync("ck", join(folder, "alias"));
    symlinkSync("nowhere", join(folder, "dangling"));
    const before = readdirSync(folder, { recursive: true });
    const out = more.includes("--out") ? more : [...more, "--out", "out"];

    const ran = await runProgram(
      ["patch", checkpoint, "--kv-cache-dtype", "bfloat16", ...out, "--json"],
      folder,
    );
    expect({ code: ran.code, err: ran.err, said: JSON.parse(ran.out) }).toEqual({
      code: 1,
      err: "",
      said: { error: { code, message: expect.stringContaining(text) } },
    });
    expect(readdirSync(folder, { recursive: true })).toEqual(before);

    const forReading = await runProgram(
      ["patch", checkpoint, "--kv-cache-dtype", "bfloat16", ...out],
      folder,
    );
    expect(forReading).toEqual({ code: 1, out: "", err: `${JSON.parse(ran.out).error.message}\n` });
  });
});

test("without --out it says what it would change and why, and writes nothing", async () => {
  const { code, out, err } = await runProgram(["patch", "ck", "--kv-cache-dtype", "bfloat16"], folder);
  expect({ code, err, lines: out.split("\n") }).toEqual({
    code: 0,
    err: "",
    lines: [
      'config.json#/quantization_config/kv_cache_scheme: {"num_bits":8} -> null',
      "  why: asks for a quantized KV cache; read by the attention layer, not that of MLA; it checks the scheme whatever the flag is",
      "vLLM: --kv-cache-dtype bfloat16",
      "nothing written: no --out",
      "",
    ],
  });
  expect(readdirSync(folder)).toEqual(["ck"]);
});

test("plain overrides are those of quantization configs, an empty folder is filled, other bytes stay", async () => {
  put("overrides.json", '{"exclude_modules": ["lm_head"]}');
  mkdirSync(join(folder, "out"));
  const words = ["--kv-cache-dtype=bfloat16", "--overrides", "overrides.json", "--out", "out", "--json"];
  const { code, out } = await runProgram(["patch", ...words, "--", "ck"], folder);
  expect(code).toBe(0);
  const after = CONFIG.replace(
    '{"num_bits": 8}, "ignore": []',
    'null, "ignore": [], "exclude_modules": ["lm_head"]',
  );
  expect(readFileSync(join(folder, "out/config.json"), "utf8")).toBe(after);
  expect(out).toContain("12345678901234567890");
  expect(JSON.parse(out).warnings).toEqual([
    {
      code: "exclude-key-not-read",
      message:
        "quantizationConfigOverrides.exclude_modules is not read by vLLM for compressed-tensors in config.json: the right name is ignore",
    },
  ]);
});

test("NaN and Infinity, which JSON does not know, are their names in --json and themselves in the file", async () => {
  put("ck/config.json", '{"a": NaN, "b": [-Infinity], "quantization_config": {"kv_cache_scheme": "FP8"}}');
  const { out } = await runProgram(
    ["patch", "ck", "--kv-cache-dtype", "float16", "--out", "x/y/out", "--json"],
    folder,
  );
  expect(JSON.parse(out).files["config.json"]).toEqual({
    a: "NaN",
    b: ["-Infinity"],
    quantization_config: { kv_cache_scheme: null },
  });
  expect(readFileSync(join(folder, "x/y/out/config.json"), "utf8")).toBe(
    '{"a": NaN, "b": [-Infinity], "quantization_config": {"kv_cache_scheme": null}}',
  );
});

test("does not load Pulumi", () => {
  put(
    "watch.cjs",
    'process.on("exit", () => { for (const name of Object.keys(require.cache)) if (name.includes("pulumi/pulumi")) console.log(name); });',
  );
  const words = [
    "--require",
    join(folder, "watch.cjs"),
    PROGRAM,
    "patch",
    join(folder, "ck"),
    "--kv-cache-dtype",
    "auto",
  ];
  expect(execFileSync(process.execPath, words, { encoding: "utf8" })).toMatch(/nothing written: no --out\n$/);
});
