import { describe, expect, it } from "vitest";
import { ENGINE_FLAGS } from "../../provider/src/core/engine-flags";
import { parseInputs } from "../../provider/src/core/parse-inputs";

function judged(name: string, value: unknown): string | null {
  const result = parseInputs({ host: "gpu1", model: { path: "/m" }, extraArgs: { [name]: value } });
  return result.ok ? null : result.problems.map((problem) => problem.wanted).join("; ");
}

describe("names in extraArgs", () => {
  it.each([
    ["--stream-interval", 'the name "stream-interval": vLLM\'s long name, with dashes but none in front'],
    ["stream_interval", 'the name "stream-interval": vLLM\'s long name, with dashes but none in front'],
    ["streamInterval", 'the name "stream-interval": vLLM\'s long name, with dashes but none in front'],
    ["max-model-len", "engine.maxModelLen"],
    ["max_model_len", "engine.maxModelLen"],
    ["tp", "engine.tensorParallelSize"],
    ["device-memory-utilization", "engine.gpuMemoryUtilization"],
    ["no-enable-prefix-caching", "engine.enablePrefixCaching: false"],
    ["no-enable-log-deltas", 'extraArgs["enable-log-deltas"]: false'],
    ["attention-config.backend", 'one object at extraArgs["attention-config"]'],
    ["a=b", "vLLM's long name: small letters, digits and dashes"],
    ["kv-cache-dtype", "kvCacheDtype"],
    ["served-model-name", "engine.servedModelName"],
    ["no-kv-cache-dtype", "kvCacheDtype"],
    ["no-host", "listen.address"],
    ["no-", "vLLM's long name: small letters, digits and dashes"],
    ["--", "vLLM's long name: small letters, digits and dashes"],
    ["O", 'extraArgs["optimization-level"]'],
    ["-O3", 'extraArgs["optimization-level"]'],
    ["dcp", 'extraArgs["decode-context-parallel-size"]'],
    ["n", "nothing: servers over several machines are not supported yet"],
    ["help", "nothing: vLLM would print a text and end"],
    ["version", "nothing: vLLM would print a text and end"],
    ["api-key", "apiKey"],
    ["hf-token", "environment.HF_TOKEN"],
    ["host", "listen.address"],
    ["port", "listen.port"],
    ["model", "model"],
    ["config", "engine and extraArgs, the file is written from them"],
    ["device-ids", "gpus"],
    ["headless", "nothing: servers over several machines are not supported yet"],
    ["nnodes", "nothing: servers over several machines are not supported yet"],
    ["data-parallel-size-local", "nothing: servers over several machines are not supported yet"],
    ["fingerprint-value", "nothing: it is how readiness proves that the right server answered"],
    ["ssl-certfile", "nothing: HTTPS of vLLM itself is not supported yet, put a proxy in front"],
    ["uds", "listen: a Unix socket is not supported yet"],
  ])("%s is refused: %s", (name, wanted) => {
    expect(judged(name, 1)).toBe(wanted);
  });

  it("of every typed flag are told as engine's name", () => {
    const told = [...ENGINE_FLAGS.values()].map((row) => judged(row.flag, 1));
    expect(told).toEqual([...ENGINE_FLAGS.keys()].map((name) => `engine.${name}`));
  });

  it("may be unknown here: the installed version decides", () => {
    expect(judged("some-flag-of-2027", true)).toBeNull();
  });
});

describe("values in extraArgs that vLLM's parser would lose or misread", () => {
  it.each([
    ["stream-interval", null],
    ["middleware", []],
    ["middleware", [null]],
    ["middleware", [true]],
    ["middleware", [["a"]]],
    ["middleware", ["-x.y"]],
    ["watermark", -0.5],
    ["watermark", "-0.5"],
    ["generation-config", "--x"],
    ["generation-config", "-Ofast"],
    ["generation-config", "a\0b"],
    ["seed", 2 ** 60],
    ["seed", Number.NaN],
    ["shutdown-timeout", 0],
    ["api-server-count", 0],
    ["some-flag", () => 1],
  ])("%s %j is refused", (name, value) => {
    expect(judged(name, value)).not.toBeNull();
  });

  it.each([
    ["seed", -1],
    ["seed", "-1"],
    ["watermark", 1e-7],
    ["allowed-origins", ["*"]],
    ["allowed-origins", [["nested", true, null]]],
    ["middleware", ["a.b", 1]],
    ["lora-target-modules", [{ a: null }]],
    ["enable-log-deltas", false],
    ["pooler-config", { a: [null, true] }],
    ["shutdown-timeout", 30],
    ["api-server-count", 2],
  ])("%s %j is taken", (name, value) => {
    expect(judged(name, value)).toBeNull();
  });
});
