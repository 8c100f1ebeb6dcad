import { describe, expect, it } from "vitest";
import { ENGINE_FLAGS } from "../../provider/src/core/engine-flags";
import {
  askedFlags,
  flagRowsFor,
  flagTableFor,
  deprecatedFlags,
  unknownFlags,
  unsuitableValues,
} from "../../provider/src/core/vllm-flags";
import { formatPath } from "../../provider/src/core/input-path";
import { REMOVED_FLAGS } from "../../provider/src/core/vllm-flags-removed";
import type { FlagRow, FlagTable } from "../../provider/src/core/vllm-flags-table";
import { spec } from "../support/host-facts";

const known = new Set(flagTableFor("0.32.0")?.keys() ?? []);
const rows: FlagTable = flagRowsFor("0.32.0+cpu") ?? new Map<string, FlagRow>();

describe("the table of vLLM 0.32", () => {
  it.each(["0.32.0", "0.32.1", "0.32.0+cpu", "0.32.0rc1", "0.32.0.post1+cu130"])("fits %s", (version) => {
    expect(flagTableFor(version)?.get("tensor-parallel-size")).toBe("int");
  });

  it.each(["0.31.9", "0.33.0", "0.320.0", "10.32.0", "0.32.1.dev17+g0a1b2c3", "0.32.0rc2.dev3", null])(
    "does not fit %s",
    (version) => {
      expect(flagTableFor(version)).toBeNull();
    },
  );

  it("has the 316 options of the parser and one second name", () => {
    expect(known.size).toBe(317);
    expect([...known].filter((flag) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(flag))).toEqual([]);
  });

  it("has every typed flag of engine, with a kind that fits its type", () => {
    const kinds = [...ENGINE_FLAGS.values()].map(
      ({ flag, kind }) => `${kind}: ${flagTableFor("0.32.0")?.get(flag) ?? "missing"}`,
    );
    expect([...new Set(kinds)].sort()).toEqual([
      "bool: bool",
      "json: json",
      "list: list",
      "number: enum",
      "number: float",
      "number: humanInt",
      "number: humanIntOrAuto",
      "number: int",
      "text: enum",
      "text: string",
    ]);
  });

  it("has none of the removed flags", () => {
    expect(REMOVED_FLAGS.filter((row) => known.has(row.flag))).toEqual([]);
  });
});

describe("flags that the installed vLLM does not know", () => {
  const given = spec({
    engine: { maxModelLen: 8, asyncScheduling: true },
    extraArgs: {
      "swap-space": 4,
      "enable-reasoning": true,
      "stream-intervall": 4,
      "zzz-qqq-xxx": 1,
      "gpu-memory-utilisation": 1,
    },
  });

  it("are told by input, with what became of them", () => {
    expect(unknownFlags(given, known)).toEqual([
      { path: 'extraArgs["swap-space"]', flag: "swap-space", note: "removed in vLLM 0.18.0" },
      {
        path: 'extraArgs["enable-reasoning"]',
        flag: "enable-reasoning",
        note: "removed in vLLM 0.10.0; use engine.reasoningParser alone",
      },
      {
        path: 'extraArgs["stream-intervall"]',
        flag: "stream-intervall",
        note: 'did you mean extraArgs["stream-interval"]?',
      },
      {
        path: 'extraArgs["zzz-qqq-xxx"]',
        flag: "zzz-qqq-xxx",
        note: "this version has no flag of a similar name",
      },
      {
        path: 'extraArgs["gpu-memory-utilisation"]',
        flag: "gpu-memory-utilisation",
        note: "did you mean engine.gpuMemoryUtilization?",
      },
    ]);
  });

  it("are told the input where the nearest flag is one that extraArgs does not take", () => {
    expect(unknownFlags(spec({ extraArgs: { "api-ke": "k" } }), new Set(["--api-key"]))).toEqual([
      { path: 'extraArgs["api-ke"]', flag: "api-ke", note: "if --api-key was meant: apiKey" },
    ]);
  });

  it("can be typed ones on an old version", () => {
    const old = new Set(["--max-model-len"]);
    expect(unknownFlags(spec({ engine: { maxModelLen: 8, asyncScheduling: true } }), old)).toEqual([
      {
        path: "engine.asyncScheduling",
        flag: "async-scheduling",
        note: "this version has no flag of a similar name",
      },
    ]);
  });

  it("that still work and go away are told as such, from the version on that says so", () => {
    const old = spec({ extraArgs: { "log-config-file": "/l.json", "disable-cascade-attn": true } });
    const names = new Set(["log-config-file", "disable-cascade-attn"]);
    expect(deprecatedFlags(old, "0.32.0", names)).toEqual([
      {
        path: 'extraArgs["log-config-file"]',
        flag: "log-config-file",
        note: 'gone in vLLM 0.33; use extraArgs["logging-config"] { pylogging_config_file }',
      },
      {
        path: 'extraArgs["disable-cascade-attn"]',
        flag: "disable-cascade-attn",
        note: "without effect, gone in vLLM 0.33; leave it out",
      },
    ]);
    expect(deprecatedFlags(old, "0.31.9", names)).toEqual([]);
    expect(deprecatedFlags(old, null, names)).toEqual([]);
    expect(deprecatedFlags(old, "0.33.0", new Set())).toEqual([]);
  });

  it("can be only the negative form, where the version tells its negative forms", () => {
    const off = spec({ extraArgs: { "disable-log-stats": false, "enable-dbo": false } });
    const told = new Set(["disable-log-stats", "enable-dbo", "no-enable-dbo"]);
    expect(unknownFlags(off, told)).toEqual([
      {
        path: 'extraArgs["disable-log-stats"]',
        flag: "no-disable-log-stats",
        note: "it cannot be turned off, leave it out",
      },
    ]);
    expect(unknownFlags(off, known)).toEqual([]);
  });
});

describe("values that the installed vLLM's parser would refuse", () => {
  it.each([
    ["seed", [1, 2], "a whole number"],
    ["seed", true, "a whole number"],
    ["enable-dbo", "false", "true or false"],
    ["watermark", "x", "a number"],
    ["prefix-caching-hash-algo", "md5", "one of sha256, sha256_cbor, xxhash, xxhash_cbor"],
    ["pooler-config", true, "an object"],
    ["generation-config", true, "text"],
    ["middleware", ["a", "b"], "one item: a file can give this flag only once"],
    ["ignore-patterns", true, "a list of texts"],
    ["ignore-patterns", [{ a: 1 }], "a list of texts"],
    ["collect-detailed-traces", "gpu", "items of all, model, worker, None"],
    ["cudagraph-capture-sizes", ["a"], "whole numbers"],
    ["cudagraph-capture-sizes", 3.5, "whole numbers"],
    ["disable-access-log-for-endpoints", ["/health", "/metrics"], "text"],
    ["tokenizer-revision", { a: 1 }, "text"],
    ["safetensors-prefetch-block-size", "2.5M", "a whole number, or one such as 16k (16000) or 16K (16384)"],
    ["additional-config", [1], "an object"],
    ["additional-config", "yes", "an object, or its JSON text"],
    ["pooler-config", "null", "an object"],
    ["pooler-config", { dimension: 8 }, 'no member "dimension" (did you mean dimensions?)'],
    ["pooler-config", '{"dimension": 8k}', 'no member "dimension" (did you mean dimensions?)'],
    [
      "compilation-config",
      { pass_config: { enable_noop: true } },
      `no member "pass_config.enable_noop" (it knows ${(rows.get("compilation-config")?.members?.["pass_config"] ?? []).join(", ")})`,
    ],
    [
      "kernel-config",
      { ir_op_priority: { rms_norms: [] } },
      'no member "ir_op_priority.rms_norms" (did you mean rms_norm?)',
    ],
    ["speculative-config", { metod: "mtp" }, 'no member "metod" (did you mean method?)'],
    ["weight-transfer-config", { x: 1 }, 'no member "x" (it knows backend)'],
    ["allowed-origins", { a: 1 }, "a list of texts"],
    ["allowed-origins", "*", "a list of texts"],
    ["collect-detailed-traces", ["gpu"], "items of all, model, worker, None"],
  ])("%s %j", (flag, value, wanted) => {
    const found = unsuitableValues(spec({ extraArgs: { [flag]: value } }), rows);
    expect(found.map((problem) => [problem.path, problem.wanted])).toEqual([
      [formatPath(["extraArgs", flag]), wanted],
    ]);
  });

  it("are told without what they hold where it is a secret", () => {
    const given = spec({ extraArgs: { "otlp-token": "hunter2", seed: "s".repeat(200) } });
    const table = new Map([...rows, ["otlp-token", { kind: "int" as const }]]);
    expect(unsuitableValues(given, table).map((problem) => problem.message)).toEqual([
      'extraArgs["otlp-token"]: found text (not shown), need a whole number',
      `extraArgs.seed: found "${"s".repeat(80)}...", need a whole number`,
    ]);
  });

  it("are none in what the table calls right", () => {
    const good = {
      seed: "-1",
      "enable-dbo": true,
      watermark: 1,
      "safetensors-prefetch-block-size": "16M",
      "max-num-queued-tokens": "2.5m",
      "pooler-config": { dimensions: null },
      "kv-transfer-config": '{"kv_connector": "8k", "kv_port": 80m}',
      "additional-config": { anything: 1 },
      "allowed-origins": ["*"],
      "allowed-methods": '["GET"]',
      "cudagraph-capture-sizes": 8,
      "pt-load-map-location": "cpu",
      middleware: "a",
      "compilation-config": { pass_config: { fuse_norm_quant: true }, mode: 3 },
      "speculative-config": { "num-speculative-tokens": 2, draft_load_config: { any: 1 } },
    };
    expect(
      unsuitableValues(spec({ engine: { maxLoraRank: 16, maxModelLen: "auto" }, extraArgs: good }), rows),
    ).toEqual([]);
  });
});

describe("flags that an installed vLLM tells itself", () => {
  it("are written as that version wants them: JSON as text, false only where there is a negative form", () => {
    const told = [
      "allowed-origins",
      "disable-log-stats",
      "enforce-eager",
      "no-enforce-eager",
      "of-2027",
      "seed",
    ];
    expect(Object.fromEntries(askedFlags(told))).toEqual({
      "allowed-origins": "json",
      "disable-log-stats": "flag",
      "enforce-eager": "bool",
      "no-enforce-eager": "unknown",
      "of-2027": "unknown",
      seed: "unknown",
    });
  });
});
