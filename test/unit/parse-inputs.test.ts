import { describe, expect, it } from "vitest";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import { spec } from "../support/host-facts";

const least = { host: "gpu1", model: { path: "/models/kimi" } };

function problems(inputs: object): readonly string[] {
  const result = parseInputs({ ...least, ...inputs });
  return result.ok ? [] : result.problems.map((problem) => problem.message);
}

describe("inputs to spec", () => {
  it("fills every default in", () => {
    expect(parseInputs(least)).toEqual({ ok: true, spec: spec(), unknowns: [] });
  });

  it("takes null, undefined and hidden inputs as not given", () => {
    const raw = {
      ...least,
      __urn: "u",
      __provider: "p",
      apiKey: null,
      gpus: undefined,
      engine: { dtype: null },
      listen: { port: null },
    };
    expect(parseInputs(raw)).toEqual({ ok: true, spec: spec(), unknowns: [] });
  });

  it("keeps null inside overrides and JSON flags", () => {
    const quantizationConfigOverrides = { kv_cache_scheme: null, a: { b: [null] } };
    const result = parseInputs({
      ...least,
      quantizationConfigOverrides,
      engine: { hfOverrides: { x: null } },
    });
    expect(result).toEqual({
      ok: true,
      spec: spec({ quantizationConfigOverrides, engine: { hfOverrides: { x: null } } }),
      unknowns: [],
    });
  });

  it("takes 0 for no limit where nothing else would be one", () => {
    const { timeouts } = spec();
    expect(parseInputs({ ...least, timeouts: { stall: 0 } })).toMatchObject({
      spec: { timeouts: { ...timeouts, stall: 0 } },
    });
  });

  it("derives the GPU count from the parallel sizes", () => {
    const engine = { tensorParallelSize: 4, dataParallelSize: 2 };
    expect(parseInputs({ ...least, engine })).toMatchObject({
      spec: { gpus: { kind: "derived", count: 8 } },
    });
  });

  it.each(["~/models/kimi/", "~/models//kimi", "~/./models/kimi/."])(
    "takes %s for the same checkpoint",
    (path) => {
      expect(parseInputs({ ...least, model: { path } })).toMatchObject({
        spec: { model: { path: "~/models/kimi" } },
      });
    },
  );
});

describe("problems", () => {
  it("are told all at once, each at its path, with what was found and what is wanted", () => {
    const result = parseInputs({
      host: { host: "gpu1", proxy: { host: "jump", port: 70000 } },
      engine: { maxModelLen: "16k", enforceEager: "false" },
      extraArgs: { "stream-interval": null },
      listen: { port: 0 },
      hots: 1,
    });
    expect(result).toEqual({
      ok: false,
      problems: [
        problem("hots", "1", "host (the nearest known name)"),
        problem(
          "engine.maxModelLen",
          '"16k"',
          'a whole number of tokens of at least 1, or "auto", here 16000',
        ),
        problem("engine.enforceEager", '"false"', "false without quotes"),
        problem('extraArgs["stream-interval"]', "null", "a value; to leave a flag out, leave its key out"),
        problem("listen.port", "0", "a whole number from 1 to 65535 (TCP port)"),
        problem("host.proxy.port", "70000", "a whole number from 1 to 65535 (port of sshd)"),
        problem(
          "model",
          "nothing",
          'text such as "org/name@revision", or an object such as { path: "/models/my-model" }',
        ),
      ],
    });
  });

  it.each([
    [{ engine: { max_model_len: 8 } }, "engine.max_model_len: found 8, need the name maxModelLen"],
    [{ engine: { "max-model-len": 8 } }, 'engine["max-model-len"]: found 8, need the name maxModelLen'],
    [{ engine: { tp: 8 } }, "engine.tp: found 8, need the name tensorParallelSize"],
    [{ engine: { streamInterval: 4 } }, 'engine.streamInterval: found 4, need extraArgs["stream-interval"]'],
    [{ engine: { kvCacheDtype: "fp8" } }, "engine.kvCacheDtype: found text, need kvCacheDtype"],
    [
      { engine: { enforceEagr: true } },
      'engine.enforceEagr: found true, need one of engine\'s 43 flags (did you mean enforceEager?); any other flag goes to extraArgs["enforce-eagr"]',
    ],
    [{ kv_cache_dtype: "auto" }, "kv_cache_dtype: found text, need kvCacheDtype (the nearest known name)"],
    [
      { service: { restart: { maxs: 1 } } },
      "service.restart.maxs: found 1, need service.restart.max (the nearest known name)",
    ],
    [
      { model: { path: "/m", rep: "org/x" } },
      "model.rep: found text, need model.repo (the nearest known name)",
    ],
    [
      { host: { host: "gpu1", hostkey: "x" } },
      "host.hostkey: found text, need host.hostKey (the nearest known name)",
    ],
    [{ maxModelLen: 8 }, "maxModelLen: found 8, need engine.maxModelLen"],
    [{ tp: 8 }, "tp: found 8, need engine.tensorParallelSize"],
    [{ port: 8000 }, "port: found 8000, need listen.port or host.port"],
    [{ stream_interval: 4 }, 'stream_interval: found 4, need extraArgs["stream-interval"]'],
    [{ env: {} }, "env: found an object, need environment (the nearest known name)"],
    [
      { service: { manger: "auto", logs: { kep: 1 } } },
      "service.logs.kep: found 1, need service.logs.keep (the nearest known name)",
      "service.manger: found text, need service.manager (the nearest known name)",
    ],
    [{ manager: "systemd" }, "manager: found text, need service.manager"],
    [
      { service: { manager: "systemd_user" } },
      'service.manager: found "systemd_user", need one of "auto", "systemd", "systemd-user", "process", here "systemd-user"',
    ],
    [
      { onDelete: { unreachable: "forget" } },
      "onDelete.unreachable: found text, need onDelete.unreachableHost (the nearest known name)",
    ],
    [
      { onDelete: { unreachableHost: "forgets" } },
      'onDelete.unreachableHost: found "forgets", need one of "fail", "forget", here "forget"',
    ],
    [
      { service: { logs: { maxBytes: "100M" } } },
      'service.logs.maxBytes: found "100M", need a whole number of at least 1048576 (bytes of one log; 1 MiB = 1048576), here 104857600',
    ],
    [{ vllm: { exe: "/v" } }, "vllm.exe: found text, need vllm.executable (the nearest known name)"],
  ])("name what was probably meant: %j", (inputs, ...messages) => {
    expect(problems(inputs)).toEqual(messages);
  });

  it.each([
    [{ model: { path: "org/name" } }, "model.path"],
    [{ model: { path: "/" } }, "model.path"],
    [{ vllm: { executable: "vllm" } }, "vllm.executable"],
    [{ kvCacheDtype: "FP8" }, "kvCacheDtype"],
    [{ engine: { gpuMemoryUtilization: 92 } }, "engine.gpuMemoryUtilization"],
    [{ engine: { tensorParallelSize: 1.5 } }, "engine.tensorParallelSize"],
    [{ engine: { servedModelName: [] } }, "engine.servedModelName"],
    [{ engine: { servedModelName: ["--x"] } }, "engine.servedModelName"],
    [{ engine: { dtype: "-x" } }, "engine.dtype"],
    [{ engine: { hfOverrides: [1] } }, "engine.hfOverrides"],
    [{ gpus: 0 }, "gpus"],
    [{ gpus: [0, 0] }, "gpus"],
    [{ gpus: ["MIG-1234-5678"] }, "gpus"],
    [{ gpus: 1, engine: { tensorParallelSize: 2 } }, "gpus"],
    [{ gpus: [3], engine: { pipelineParallelSize: 2 } }, "gpus"],
    [{ listen: { address: "[::1]" } }, "listen.address"],
    [{ listen: { address: "0.0.0.0" } }, "listen.address"],
    [{ readiness: { probe: "ping" } }, "readiness.probe"],
    [{ timeouts: { ready: 0 } }, "timeouts.ready"],
    [{ timeouts: { stall: -1 } }, "timeouts.stall"],
    [{ service: { restart: { max: -1 } } }, "service.restart.max"],
    [{ service: { manager: "openrc" } }, "service.manager"],
    [{ service: { startOnBoot: "true" } }, "service.startOnBoot"],
    [{ service: { logs: { keep: 0 } } }, "service.logs.keep"],
    [{ service: { logs: { keep: 1001 } } }, "service.logs.keep"],
    [{ service: { logs: { maxBytes: 2 ** 20 - 1 } } }, "service.logs.maxBytes"],
    [{ host: { host: "gpu1", sudo: true } }, "host.sudo"],
    [{ configOverrides: { quantization_config: {} } }, "configOverrides.quantization_config"],
    [
      { configOverrides: { text_config: { compression_config: {} } } },
      "configOverrides.text_config.compression_config",
    ],
    [{ configOverrides: "{}" }, "configOverrides"],
    [{ model: { path: "/m/.." } }, "model.path"],
    [{ model: { path: "/m/x " } }, "model.path"],
    [{ model: { path: "/./" } }, "model.path"],
    [{ engine: { dtype: " " } }, "engine.dtype"],
    [{ listen: { address: "127.999.1.1" } }, "listen.address"],
    [{ listen: { address: "127.1" } }, "listen.address"],
    [{ service: { restart: { delaySeconds: 1e300 } } }, "service.restart.delaySeconds"],
    [{ service: { restart: { withinSeconds: 1e300 } } }, "service.restart.withinSeconds"],
    [{ host: { host: "gpu1", perDialTimeout: 3e6 } }, "host.perDialTimeout"],
    [{ host: { host: "gpu1", user: "a b" } }, "host.user"],
    [{ host: { host: "gpu1", user: "-oProxyCommand=x" } }, "host.user"],
    [{ host: { host: "gpu1", privateKey: "~/.ssh/id_ed25519" } }, "host.privateKey"],
    [{ host: { host: "gpu1", hostKey: "MD5:aa:bb" } }, "host.hostKey"],
    [{ configOverrides: { a: { b: [1, Number.NaN] } } }, "configOverrides.a.b[1]"],
  ])("refuse %j at %s", (inputs, path) => {
    const result = parseInputs({ ...least, ...inputs });
    expect(result.ok ? [] : result.problems.map((problem) => problem.path)).toEqual([path]);
  });

  it("show short lists as they are", () => {
    expect(problems({ gpus: ["0", null] })).toEqual([
      'gpus: found ["0",null], need a number of GPUs of at least 1, or a list of different indexes and UUIDs such as [0, 1] or ["GPU-..."]',
    ]);
  });

  it("tell that a quantized KV cache and a 16-bit one were asked for together", () => {
    const quantizationConfigOverrides = { quantization: { kv_cache_quant_algo: "FP8" } };
    expect(problems({ kvCacheDtype: "bfloat16", quantizationConfigOverrides })).toEqual([
      'quantizationConfigOverrides.quantization.kv_cache_quant_algo: found a request for a quantized KV cache, need null there, or another kvCacheDtype than "bfloat16"',
    ]);
    expect(problems({ kvCacheDtype: "fp8", quantizationConfigOverrides })).toEqual([]);
  });

  it("tell that a model named after its folder would be taken for an option", () => {
    const model = { path: "/models/-x" };
    expect(problems({ model })).toEqual([
      'model.path: found "-x" as the name of the model: vLLM takes it for an option, need engine.servedModelName, or another folder name',
    ]);
    expect(problems({ model, engine: { servedModelName: ["x"] } })).toEqual([]);
  });

  it.each([{ apiKey: "k" }, { allowUnauthenticated: true }])(
    "let a server listen on every address with %j",
    (inputs) => {
      expect(problems({ listen: { address: "0.0.0.0" }, ...inputs })).toEqual([]);
    },
  );
});

describe("unknown values", () => {
  it("are skipped at any depth and told by path", () => {
    const result = parseInputs({
      host: { host: UNKNOWN_VALUE, password: UNKNOWN_VALUE },
      model: UNKNOWN_VALUE,
      engine: {
        maxModelLen: UNKNOWN_VALUE,
        servedModelName: ["a", UNKNOWN_VALUE],
        tensorParallelSize: UNKNOWN_VALUE,
      },
      gpus: 1,
      listen: { address: "0.0.0.0" },
      apiKey: UNKNOWN_VALUE,
      configOverrides: { a: { b: UNKNOWN_VALUE } },
    });
    expect(result).toMatchObject({
      ok: true,
      unknowns: [
        "host.host",
        "host.password",
        "model",
        "engine.maxModelLen",
        "engine.servedModelName[1]",
        "engine.tensorParallelSize",
        "apiKey",
        "configOverrides.a.b",
      ],
    });
  });

  it("do not hide what is wrong beside them", () => {
    expect(problems({ host: UNKNOWN_VALUE, engine: { dtype: UNKNOWN_VALUE, maxNumSeqs: 0 } })).toEqual([
      "engine.maxNumSeqs: found 0, need a whole number of at least 1 (requests)",
    ]);
  });

  it("can be the whole input", () => {
    expect(parseInputs(UNKNOWN_VALUE)).toMatchObject({ ok: true, unknowns: [""] });
  });
});

function problem(path: string, found: string, wanted: string): object {
  return { path, found, wanted, message: `${path}: found ${found}, need ${wanted}`, isSecret: false };
}
