import { describe, expect, it } from "vitest";
import { desiredState, type Desired } from "../../provider/src/core/desired";
import type { Observed } from "../../provider/src/core/observed";
import type { HubModel, Spec } from "../../provider/src/core/spec";
import { flagTableFor } from "../../provider/src/core/vllm-flags";
import { environment, hubModel, observed, owner, runningServer, spec } from "../support/host-facts";

const flags = flagTableFor("0.32.0") ?? new Map<string, never>();
const desired = (parts: Partial<Spec> = {}, seen: Partial<Observed> = {}): Desired =>
  desiredState(spec(parts), observed(seen), flags, owner.urn);
const fingerprint = (parts: Partial<Spec>, seen: Partial<Observed> = {}): string =>
  desired(parts, seen).launch.fingerprint;

const quantized = (config: object): Partial<Observed> => ({
  checkpoint: {
    found: true,
    path: "/models/kimi",
    files: { "config.json": `${JSON.stringify(config)}\n`, "hf_quant_config.json": null },
    weightFiles: 1,
    weightBytes: 1,
  },
});
const fp8 = quantized({
  dtype: "bfloat16",
  quantization_config: {
    quant_method: "modelopt",
    quant_algo: "NVFP4",
    kv_cache_scheme: { type: "float", num_bits: 8 },
  },
});

describe("desiredState", () => {
  it("names GPUs by index where vLLM ends at a UUID: before it knew --device-ids", () => {
    const older = new Map([...flags].filter(([flag]) => flag !== "device-ids"));
    const named = [flags, older].map(
      (known) => desiredState(spec({}), observed(), known, owner.urn).launch.gpuNames,
    );
    expect(named).toEqual(["uuid", "index"]);
  });

  it("serves the checkpoint itself where nothing is to be patched", () => {
    const { launch, overlay, warnings } = desired();
    expect([launch.modelPath, overlay, warnings]).toEqual(["/models/kimi", null, []]);
    expect(launch.configYaml).toContain(`fingerprint-value: "${launch.fingerprint}"`);
  });

  it("knows what layers take for auto and nobody tells of, as long as the files that are served ask for it", () => {
    const scheme = quantized({
      dtype: "bfloat16",
      quantization_config: {
        quant_method: "compressed-tensors",
        kv_cache_scheme: { type: "float", num_bits: 8 },
      },
    });
    const auto = (kvCacheDtype: string, seen: Partial<Observed>): string | null =>
      desired({ kvCacheDtype }, seen).kvCacheAuto;
    expect([auto("auto", scheme), auto("bfloat16", scheme), auto("auto", fp8), auto("auto", {})]).toEqual([
      "fp8",
      null,
      null,
      null,
    ]);
  });

  it("warns of overrides that Mistral's own config can outdo", () => {
    const told = (parts: Partial<Spec>): readonly string[] =>
      desired(parts).warnings.map(({ summary }) => summary);
    const [engine, configOverrides] = [{ configFormat: "mistral" }, { rope_theta: 10000 }];
    expect(told({ engine, configOverrides })).toEqual([expect.stringContaining("reads params.json first")]);
    expect([told({ engine }), told({ configOverrides })]).toEqual([[], []]);
  });

  it("serves an overlay where a 16-bit cache is wanted of a checkpoint that asks for another", () => {
    const { launch, overlay } = desired({ kvCacheDtype: "bfloat16" }, fp8);
    expect(launch.modelPath).toBe(`/home/ann/.local/state/pulumi-vllm/overlays/${overlay?.name ?? ""}`);
    expect(overlay).toMatchObject({ kind: "overlay", checkpointPath: "/models/kimi" });
    expect(JSON.parse(overlay?.files["config.json"] ?? "")).toMatchObject({
      quantization_config: { kv_cache_scheme: null },
    });
    expect(overlay?.record).toEqual({
      checkpoint: "/models/kimi",
      changes: [
        {
          file: "config.json",
          pointer: "/quantization_config/kv_cache_scheme",
          from: { type: "float", num_bits: 8 },
          to: null,
        },
      ],
      untouched: [],
    });
  });

  it.each<[string, string, Partial<Spec>, string | null, readonly string[]]>([
    ["the checkpoint's own dtype is wished", "0.16.0", { kvCacheDtype: "bfloat16" }, null, []],
    [
      "configOverrides say another dtype",
      "0.16.0",
      { kvCacheDtype: "bfloat16", configOverrides: { dtype: "float16" } },
      "bfloat16",
      ['kvCacheDtype is "bfloat16" and the checkpoint is float16: vLLM 0.33 and later refuse that'],
    ],
    [
      "another dtype is wished",
      "0.32.0",
      { kvCacheDtype: "float16" },
      "float16",
      ['kvCacheDtype is "float16" and the checkpoint is bfloat16: vLLM 0.33 and later refuse that'],
    ],
    [
      "engine.dtype gives the wished one",
      "0.33.0",
      { kvCacheDtype: "float16", engine: { dtype: "half" } },
      "float16",
      [],
    ],
    [
      "the installed version refuses it: told once",
      "0.33.0",
      { kvCacheDtype: "float16" },
      "float16",
      [
        "vLLM 0.33 and later refuse a 16-bit kvCacheDtype that is not the model's own dtype (engine.dtype changes that one)",
      ],
    ],
  ])("where %s, the flag and what is told of it fit", (_rule, version, parts, flag, warnings) => {
    const executable = { found: true, path: "/v", version } as const;
    const found = desired(parts, { ...fp8, executable });
    const passed = /^kv-cache-dtype: "(.*)"$/m.exec(found.launch.configYaml)?.[1] ?? null;
    expect([passed, found.warnings.map(({ summary }) => summary)]).toEqual([flag, warnings]);
  });

  it("names a file of the checkpoint that is no JSON, and the input that chose it", () => {
    const files = { "config.json": '{"a": 1,}', "hf_quant_config.json": null };
    const checkpoint = { found: true, path: "/models/kimi", files, weightFiles: 1, weightBytes: 1 } as const;
    expect(() => desired({ kvCacheDtype: "bfloat16" }, { checkpoint })).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          code: "CONFIG_PATCH_REJECTED",
          summary:
            "Cannot patch the config of /models/kimi: Cannot patch config.json: found no JSON from line 1, column 9 on (PropertyNameExpected), need a JSON object",
          path: "model.path",
        }),
      }),
    );
  });

  it("refuses overrides that cannot be applied, by their path", () => {
    const wish = { quantizationConfigOverrides: { group_size: 32 } };
    expect(() => desired(wish)).toThrow(expect.objectContaining({ code: "CONFIG_PATCH_REJECTED" }));
  });

  it.each<[string, Partial<Spec>]>([
    ["timeouts", { timeouts: { connect: 1, install: 4, download: 5, ready: 2, stall: 6, stop: 3 } }],
    ["readiness", { readiness: { probe: "chat" } }],
    [
      "how the process is looked after",
      {
        service: {
          manager: "process",
          startOnBoot: false,
          restart: { max: 0, withinSeconds: 1, delaySeconds: 1 },
          logs: { keep: 1, maxBytes: 2 ** 20 },
        },
      },
    ],
    ["onDelete", { onDelete: { unreachableHost: "forget", model: "purge" } }],
    [
      "the way to the host",
      { host: { ...spec().host, host: "gpu1.lan", port: 2222, password: "p", sudo: "never" } },
    ],
    ["apiKey, which is compared on the host", { apiKey: "sk-1" }],
    ["environment, which is compared on the host", { environment: { HF_TOKEN: "hf" } }],
    ["kvCacheDtype spelled out as its default", { kvCacheDtype: "auto" }],
  ])("has the same fingerprint whatever is said of %s", (_what, parts) => {
    expect(fingerprint(parts)).toBe(fingerprint({}));
  });

  it.each<[string, Partial<Spec>, Partial<Observed>]>([
    ["a flag", { engine: { maxModelLen: 128 } }, {}],
    ["another flag", { extraArgs: { "stream-interval": 4 } }, {}],
    ["the port", { listen: { address: "127.0.0.1", port: 8001 } }, {}],
    ["the checkpoint", { model: { kind: "local", path: "/models/other", verify: "headers" } }, {}],
    ["the GPUs", { gpus: { kind: "list", ids: [1] } }, {}],
    ["the vllm that is found", {}, { executable: { found: true, path: "/new/vllm", version: "0.32.0" } }],
  ])("has another fingerprint with another value of %s", (_what, parts, seen) => {
    expect(fingerprint(parts, seen)).not.toBe(fingerprint({}));
  });

  it("is another one with other files of a repository, and the same wherever and however they are got", () => {
    const of = (parts: Partial<HubModel>): string => fingerprint({ model: hubModel(parts) });
    expect(of({ include: ["*.json"] })).not.toBe(of({}));
    expect(of({ exclude: ["*.bin"] })).not.toBe(of({}));
    const got = { token: "hf", endpoint: "https://mirror", revision: "main", verify: "full" } as const;
    expect(of(got)).toBe(of({}));
  });

  it("says what the host was asked for, so that a refresh is told of it before it asks", () => {
    const { launch } = desired({ model: hubModel(), vllm: environment() });
    expect([launch.checkpointWish, launch.executableWish, launch.servedModelNames]).toEqual([
      expect.stringMatching(/^checkpoints\/[0-9a-f]{16}$/),
      expect.stringMatching(/^environments\/[0-9a-f]{16}$/),
      ["nvidia/kimi"],
    ]);
  });

  it("keeps secrets out of everything that is no secret", () => {
    const { launch } = desired({ apiKey: "sk-1", environment: { HF_TOKEN: "hf-1" } });
    const { secretEnvironment, ...plain } = launch;
    expect(secretEnvironment).toEqual({ VLLM_API_KEY: "sk-1", HF_TOKEN: "hf-1" });
    expect(JSON.stringify(plain)).not.toMatch(/sk-1|hf-1/);
  });

  it("keeps the GPUs a server ran on", () => {
    const server = runningServer(desired(), {});
    expect(desired({}, { server }).launch.gpus).toEqual({ kind: "count", count: 1, prefer: ["GPU-0"] });
  });

  it.each<[string, Partial<Observed>]>([
    ["a host without nvidia-smi", { gpus: null }],
    ["a CPU build", { executable: { found: true, path: "/v", version: "0.32.0+cpu" } }],
  ])("chooses no GPUs for %s", (_what, seen) => {
    expect(desired({}, seen).launch.gpus).toEqual({ kind: "none" });
  });

  it("does without fingerprint and drain where the installed version has no flag for them", () => {
    const old = desiredState(spec(), observed(), new Map(), owner.urn);
    expect(old.launch.configYaml).not.toMatch(/fingerprint-value|shutdown-timeout/);
  });

  it("drains for as long as the shutdown timeout that was given", () => {
    expect(desired().launch.drainSeconds).toBe(20);
    expect(desired({ extraArgs: { "shutdown-timeout": 90 } }).launch.drainSeconds).toBe(90);
  });
});
