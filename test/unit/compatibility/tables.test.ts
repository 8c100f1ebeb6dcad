import { describe, expect, test } from "vitest";
import { BACKENDS, backendsFor } from "../../../provider/src/core/compatibility/attention-backends";
import { EXPERT_BACKENDS } from "../../../provider/src/core/compatibility/expert-backends";
import { compatibilityFindings } from "../../../provider/src/core/compatibility/findings";
import { QUANTIZATION_FLOORS } from "../../../provider/src/core/compatibility/quantization-floors";
import type { Version } from "../../../provider/src/core/kv-cache-situation";
import { LLAMA, QWEN_MOE, situation, type Told } from "./situations";

const words = (version: Version): string => version.join(".");
/** The last minor version of a range. */
const last = ([major, minor]: Version): Version => [major, minor - 1];
/** The next older GPU that exists. */
const OLDER: Readonly<Record<string, string>> = {
  "7.0": "6.1",
  "7.5": "7.0",
  "8.0": "7.5",
  "8.9": "8.6",
  "10.0": "9.0",
};

describe.each(QUANTIZATION_FLOORS.map((floor) => [floor.row, floor] as const))("%s", (_row, floor) => {
  const [method] = floor.methods;
  const [algorithm] = floor.algorithms ?? [];
  const config = {
    ...LLAMA,
    quantization_config: {
      quant_method: method,
      ...(algorithm === undefined ? {} : { quant_algo: algorithm }),
    },
  };
  const found = (told: Told): readonly string[] =>
    compatibilityFindings(situation({ config, ...told })).flatMap(({ severity, summary }) =>
      summary.includes("from compute capability") ? [severity] : [],
    );
  const { since, before } = floor.versions;
  const versions = [since, before === null ? null : last(before)].flatMap((one) =>
    one === null ? [] : [words(one)],
  );

  test("refuses older GPUs in each version it stands for, and takes its own", () => {
    for (const version of versions) {
      expect(found({ version, gpus: [OLDER[words(floor.capability)] ?? ""] })).toEqual(["error"]);
      expect(found({ version, gpus: [words(floor.capability)] })).toEqual([]);
    }
    expect(versions.length).toBeGreaterThan(0);
    expect(floor.source).toMatch(/^vLLM 0\.\d/);
  });
});

test.each([
  ["dense-mla", "fp8", [0, 16], [12, 0], []],
  ["dense-mla", "fp8", [0, 17], [12, 0], []],
  ["dense-mla", "fp8", [0, 18], [12, 0], ["TRITON_MLA"]],
  ["dense-mla", "fp8", [0, 18], [8, 6], []],
  ["dense-mla", "bfloat16", [0, 16], [12, 0], ["TRITON_MLA"]],
  ["dense-mla", "fp8", [0, 16], [9, 0], ["FLASHMLA"]],
  ["dense-mla", "auto", [0, 32], [9, 0], ["TRITON_MLA", "FLASH_ATTN_MLA", "FLASHMLA"]],
  ["dense-mla", "auto", [0, 32], [7, 5], ["TRITON_MLA"]],
  ["dense-mla", "bfloat16", [0, 32], [7, 5], []],
  ["dense-mla", "fp8_e5m2", [0, 32], [10, 0], []],
  ["sparse-mla", "auto", [0, 20], [12, 0], []],
  ["sparse-mla", "auto", [0, 24], [12, 0], ["FLASHINFER_MLA_SPARSE_SM120"]],
  ["sparse-mla", "bfloat16", [0, 32], [12, 0], []],
  ["sparse-mla", "auto", [0, 32], [8, 0], []],
  ["sparse-mla", "fp8", [0, 16], [10, 0], ["FLASHMLA_SPARSE"]],
  ["attention", "auto", [0, 16], [7, 5], ["TRITON_ATTN"]],
  ["attention", "nvfp4", [0, 32], [12, 0], ["FLASHINFER"]],
  ["attention", "nvfp4", [0, 32], [11, 0], []],
  ["attention", "nvfp4", [0, 16], [10, 0], []],
] as const)("%s with %s in %j on %j: %j", (kind, kvDtype, version, gpu, backends) => {
  expect(backendsFor({ kind, kvDtype, version, gpu })).toEqual(backends);
});

test("each row of the tables of backends has a source", () => {
  for (const { source } of [...BACKENDS, ...EXPERT_BACKENDS]) expect(source).toMatch(/^vLLM 0\.\d/);
});

test.each([
  ["flashinfer_trtllm", "10.0", "9.0"],
  ["flashinfer_cutedsl", "10.3", "12.0"],
  ["flashinfer_cutlass", "12.0", "9.0"],
  ["cutlass", "11.0", "9.0"],
  ["flashinfer_b12x", "12.1", "10.0"],
  ["marlin", "7.5", "7.0"],
])("%s runs NVFP4 experts on %s, and not on %s", (expertBackend, takes, refuses) => {
  const config = { ...QWEN_MOE, quantization_config: { quant_method: "modelopt", quant_algo: "NVFP4" } };
  const found = (gpu: string): boolean =>
    compatibilityFindings(situation({ config, gpus: [gpu], expertBackend })).some(({ summary }) =>
      summary.startsWith(`moe-backend ${expertBackend} `),
    );
  expect([found(takes), found(refuses)]).toEqual([false, true]);
});
