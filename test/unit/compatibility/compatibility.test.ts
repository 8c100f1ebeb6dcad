import { describe, expect, it } from "vitest";
import { compatibility } from "../../../provider/src/core/compatibility";
import { startFactsOf } from "../../../provider/src/core/compatibility/start-facts";
import type { Observed } from "../../../provider/src/core/observed";
import type { Spec } from "../../../provider/src/core/spec";
import { KIMI_CONFIG, KIMI_HF_QUANT_CONFIG } from "../../support/checkpoints";
import { gpu, observed, spec } from "../../support/host-facts";
import { LLAMA, LLAMA_70B } from "./situations";

const GIB = 1024 ** 3;

/** The box of the incident: eight GPUs of SM120, vLLM 0.16, Kimi-K2.5-NVFP4. */
function box(
  parts: {
    readonly version?: string | null;
    readonly config?: unknown;
    readonly loadedBytes?: number | null;
  } = {},
  more: Partial<Observed> = {},
): Observed {
  const { version = "0.16.0rc2", config = KIMI_CONFIG, loadedBytes = null } = parts;
  return observed({
    gpus: Array.from({ length: 8 }, (_, index) => gpu(index)),
    executable: { found: true, path: "/opt/vllm/bin/vllm", version },
    checkpoint: {
      found: true,
      path: "/models/kimi",
      files: {
        "config.json": JSON.stringify(config),
        "hf_quant_config.json": config === KIMI_CONFIG ? JSON.stringify(KIMI_HF_QUANT_CONFIG) : null,
      },
      weightFiles: 119,
      weightBytes: 540e9,
      loadedBytes,
    },
    ...more,
  });
}
const declared = (parts: Partial<Spec> = {}): Spec =>
  spec({ gpus: { kind: "derived", count: 8 }, engine: { tensorParallelSize: 8 }, ...parts });
const severities = (wish: Spec, seen: Observed): readonly string[] =>
  compatibility(wish, seen).map(({ severity, code }) => `${severity} ${code}`);

describe("the incident", () => {
  it("is refused, with three ways out", () => {
    expect(compatibility(declared(), box())).toEqual([
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

  it.each([
    ["a 16-bit cache", declared({ kvCacheDtype: "bfloat16" }), box()],
    [
      "the checkpoint's request taken away",
      declared({ quantizationConfigOverrides: { kv_cache_scheme: null, kv_cache_quant_algo: null } }),
      box(),
    ],
    ["a newer vLLM", declared(), box({ version: "0.18.0" })],
    [
      "other GPUs",
      declared(),
      box({}, { gpus: Array.from({ length: 8 }, (_, index) => gpu(index, { computeCapability: "10.0" })) }),
    ],
    [
      "a GPU that does not tell",
      declared(),
      box({}, { gpus: [gpu(0), gpu(1, { computeCapability: null })] }),
    ],
    ["no GPU that can be seen", declared(), box({}, { gpus: null })],
    ["a version that is not told", declared(), box({ version: null })],
    ["a build that may have 0.18's changes", declared(), box({ version: "0.17.2rc1.dev3+g1234567" })],
    [
      "another config than was judged",
      declared({ engine: { tensorParallelSize: 8, hfOverrides: { a: 1 } } }),
      box(),
    ],
    ["params.json in front", declared({ engine: { tensorParallelSize: 8, configFormat: "mistral" } }), box()],
    [
      "GPUs of other hosts",
      declared({ engine: { tensorParallelSize: 8, distributedExecutorBackend: "ray" } }),
      box(),
    ],
    ["a build for CPUs", declared(), box({ version: "0.16.0+cpu" })],
    ["MLA switched off", declared({ environment: { VLLM_MLA_DISABLE: "1" } }), box()],
    [
      "a model that vLLM does not run as MLA",
      declared(),
      box({
        config: { ...KIMI_CONFIG, text_config: { ...KIMI_CONFIG.text_config, model_type: "minicpm3" } },
      }),
    ],
    ["vLLM not there yet", declared(), box({}, { executable: { found: false, reason: "no" } })],
    [
      "the checkpoint not there yet",
      declared(),
      box({}, { checkpoint: { found: false, path: "/m", reason: "no" } }),
    ],
  ])("passes with %s", (_what, wish, seen) => {
    expect(severities(wish, seen)).toEqual([]);
  });

  it("a build before 0.17 is refused like 0.16", () => {
    expect(severities(declared(), box({ version: "0.16.1.dev20+gabcdef0" }))).toEqual(["error INCOMPATIBLE"]);
  });

  it("is refused where it may run on some of the GPUs only if none of them takes it", () => {
    const one = declared({ gpus: { kind: "derived", count: 1 }, engine: {} });
    const mixed = box({}, { gpus: [gpu(0), gpu(1, { computeCapability: "9.0" })] });
    expect(severities(one, mixed)).toEqual([]);
    expect(severities(one, box())).toEqual(["error INCOMPATIBLE"]);
  });

  it("is judged by the GPUs that are declared", () => {
    const mixed = box({}, { gpus: [gpu(0), gpu(1, { computeCapability: "9.0" })] });
    expect(severities(declared({ gpus: { kind: "list", ids: [1] } }), mixed)).toEqual([]);
    expect(severities(declared({ gpus: { kind: "list", ids: ["GPU-0"] } }), mixed)).toEqual([
      "error INCOMPATIBLE",
    ]);
  });
});

describe("memory", () => {
  const llama = { config: LLAMA_70B, version: "0.32.0", loadedBytes: 132 * GIB };
  const one: Partial<Spec> = { gpus: { kind: "derived", count: 1 }, engine: {} };

  it("weights that cannot fit are refused, and told by what is loaded alone", () => {
    expect(severities(declared(one), box(llama))).toEqual(["error GPU_MEMORY_TOO_SMALL"]);
    expect(severities(declared(one), box({ ...llama, loadedBytes: null }))).toEqual([]);
    expect(severities(declared(), box(llama))).toEqual(["note GPU_MEMORY_ESTIMATE"]);
  });

  it.each([
    ["memory of the host", { cpuOffloadGb: 100 }],
    ["quantized while loading", { quantization: "fp8" }],
    ["weights of another format", { loadFormat: "dummy" }],
    ["a second model", { speculativeConfig: { model: "x" } }],
    ["a config that is changed on the way", { hfOverrides: { num_hidden_layers: 4 } }],
  ])("nothing is said of %s", (_what, engine) => {
    expect(severities(declared({ ...one, engine }), box(llama))).toEqual([]);
  });

  it("weights of float32 are not those that are loaded", () => {
    const float32 = box({ ...llama, config: { ...LLAMA, dtype: "float32" }, loadedBytes: 32e9 });
    const small = { ...float32, gpus: [gpu(0, { memoryTotalMib: 24564 })] };
    expect(severities(declared(one), small)).toEqual([]);
  });

  it("where it may run on some of the GPUs, the largest counts", () => {
    const gpus = [gpu(0, { memoryTotalMib: 8192 }), gpu(1)];
    const mixed = box({ ...llama, config: LLAMA, loadedBytes: 16e9 }, { gpus });
    expect(severities(declared(one), mixed)).toEqual(["note GPU_MEMORY_ESTIMATE"]);
    expect(severities(declared({ ...one, gpus: { kind: "list", ids: [0] } }), mixed)).toEqual([
      "error GPU_MEMORY_TOO_SMALL",
    ]);
  });

  it("a KV cache that is laid out otherwise, or of a model that decides itself, is not computed", () => {
    const kept = (parts: Partial<Spec>, config: unknown = LLAMA_70B): unknown =>
      startFactsOf(declared(parts), box({ ...llama, config }))?.memory.kvDtype;
    expect(kept({ extraArgs: { "decode-context-parallel-size": 2 } })).toBeNull();
    expect(kept({ extraArgs: { "disable-hybrid-kv-cache-manager": true } })).toBeNull();
    expect(kept({}, { ...LLAMA, model_type: "deepseek_v4" })).toBeNull();
    expect(kept({})).toBe("auto");
  });

  it("a float32 model is kept in 16 bits unless float32 is asked for", () => {
    const bytes = (engine: Spec["engine"]): unknown =>
      startFactsOf(declared({ engine }), box({ ...llama, config: { ...LLAMA, dtype: "float32" } }))?.memory
        .dtypeBytes;
    expect([bytes({}), bytes({ dtype: "float32" })]).toEqual([2, 4]);
  });

  it("inputs are taken over", () => {
    const engine = {
      tensorParallelSize: 2,
      pipelineParallelSize: 2,
      dataParallelSize: 2,
      enableExpertParallel: true,
      maxModelLen: 4096,
      gpuMemoryUtilization: 0.5,
      maxNumSeqs: 3,
      maxNumBatchedTokens: 512,
      enforceEager: true,
      kvCacheMemoryBytes: 1000,
    };
    expect(startFactsOf(declared({ engine, kvCacheDtype: "fp8" }), box(llama))?.memory).toEqual({
      configText: JSON.stringify(LLAMA_70B),
      weightBytes: 132 * GIB,
      dtypeBytes: 2,
      parallel: { tensor: 2, pipeline: 2, data: 2, isExpertParallel: true },
      kvDtype: "fp8",
      maxModelLen: 4096,
      utilization: 0.5,
      kvCacheBytes: 1000,
      gpus: Array.from({ length: 8 }, (_, index) => gpu(index)),
      step: { tokens: 512, requests: 3 },
      isEager: true,
      version: [0, 32],
    });
  });

  it("sparse MLA keeps FP8 in DeepSeek's layout, and on SM12x keeps nothing else", () => {
    const config = { ...LLAMA, kv_lora_rank: 512, qk_rope_head_dim: 64, index_topk: 2048 };
    const kept = (kvCacheDtype: string, computeCapability: string): unknown =>
      startFactsOf(
        declared({ kvCacheDtype }),
        box({ ...llama, config }, { gpus: [gpu(0, { computeCapability })] }),
      )?.memory.kvDtype;
    expect([kept("auto", "12.0"), kept("fp8", "9.0"), kept("fp8", "10.0"), kept("auto", "9.0")]).toEqual([
      "fp8_ds_mla",
      "fp8_ds_mla",
      "fp8",
      "auto",
    ]);
  });
});
