import { describe, expect, test } from "vitest";
import { compatibilityFindings } from "../../../provider/src/core/compatibility/findings";
import { situationOf, type Version } from "../../../provider/src/core/kv-cache-situation";
import { KV_WISH_RULES } from "../../../provider/src/core/kv-wish-rules";
import { BASE, EXAMPLES } from "../kv-wish-examples";
import { MLA, situation, SPARSE_MLA } from "./situations";

/** Rows whose start is proven to fail, and the ends of the versions it is proven in. */
const PROVEN = KV_WISH_RULES.flatMap((rule) =>
  rule.fails === undefined ? [] : [[rule.row, { ...rule, fails: rule.fails }] as const],
);
const text = (version: Version): string => `${version.join(".")}.0`;

describe.each(PROVEN)("%s", (row, { fails: { since, before }, message, holds }) => {
  const [example] = EXAMPLES.find(([one]) => one === row)?.[1] ?? [];
  const errors = (vllmVersion: string): readonly string[] => {
    const kv = situationOf({ ...BASE, ...example, vllmVersion });
    // Backends are asked for on GPUs that are known.
    const gpus = kv.capabilities.length > 0 ? kv.capabilities : [[9, 0] as const];
    return compatibilityFindings({
      ...situation({ config: null }),
      kv,
      newestVersion: kv.version,
      gpus,
    }).flatMap(({ severity, summary }) => (severity === "error" ? [summary] : []));
  };

  test("is an error in the versions it is proven in, and in no other", () => {
    const first: Version = since ?? [0, 11];
    const end: Version = before ?? [0, 34];
    const last: Version = [end[0], end[1] - 1];
    expect(holds(situationOf({ ...BASE, ...example, vllmVersion: text(last) }))).toBe(true);
    expect(errors(text(first))).toContain(message);
    expect(errors(text(last))).toContain(message);
    expect(errors(text(end))).not.toContain(message);
    expect(errors(text([first[0], first[1] - 1]))).not.toContain(message);
  });
});

describe("wishes for a KV cache", () => {
  const kimi = {
    ...MLA,
    quantization_config: {
      quant_method: "modelopt",
      quant_algo: "NVFP4",
      kv_cache_scheme: { dynamic: false, num_bits: 8, type: "float" },
    },
  };

  test("the checkpoint's FP8 cache for MLA on SM120 with 0.16: an error with three ways out", () => {
    expect(
      compatibilityFindings(situation({ config: kimi, version: "0.16.0rc2", gpus: Array(8).fill("12.0") })),
    ).toEqual([
      {
        severity: "error",
        code: "INCOMPATIBLE",
        summary: "TRITON_MLA, the only MLA backend of these GPUs, takes no FP8 KV cache before vLLM 0.18",
        change:
          'kvCacheDtype: "bfloat16"   (or vllm.version 0.18.0 or newer, or GPUs of compute capability 9.0 or 10.0)',
        path: "kvCacheDtype",
      },
    ]);
  });

  test.each([
    [{ config: kimi, version: "0.16.0", gpus: ["12.0"], wish: "bfloat16" }],
    [{ config: kimi, version: "0.18.0", gpus: ["12.0"] }],
    [{ config: kimi, version: "0.16.0", gpus: ["9.0"] }],
    [{ config: kimi, version: "0.16.0", gpus: ["10.0"] }],
    [{ config: MLA, version: "0.16.0", gpus: ["12.0"] }],
    [{ config: kimi, version: "0.16.0", gpus: null }],
    [{ config: kimi, version: null, gpus: ["12.0"] }],
    [{ config: kimi, version: "0.16.0", gpus: ["12.0"], isAsRead: false }],
  ])("passes: %j", (told) => {
    expect(compatibilityFindings(situation(told)).filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test("a 16-bit cache for sparse MLA on SM12x is refused", () => {
    const found = compatibilityFindings(situation({ config: SPARSE_MLA, wish: "bfloat16", gpus: ["12.0"] }));
    expect(found.map(({ severity, change }) => [severity, change])).toEqual([
      ["error", 'kvCacheDtype: "auto"'],
    ]);
  });

  test("a dtype that no MLA backend takes is refused on GPUs, and not where none is known", () => {
    const told = { config: MLA, wish: "fp8_e5m2" };
    expect(compatibilityFindings(situation(told)).map(({ severity }) => severity)).toEqual(["error"]);
    expect(compatibilityFindings(situation({ ...told, gpus: null }))).toEqual([]);
  });
});
