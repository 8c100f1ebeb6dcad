import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputProblems } from "../../provider/src/core/input-check";
import { formatPath, parsePath } from "../../provider/src/core/input-path";

describe("inputs of a server", () => {
  const whole = { host: "gpu1", model: { path: "/m" } };

  test("that are right have no problems", () => {
    expect(inputProblems(whole)).toEqual([]);
  });

  test("are judged whole, each problem with the parts of its path", () => {
    const inputs = { model: { path: "/m" }, extraArgs: { "a-b": null, "max-model-len": 1 }, gpus: 0 };
    expect(inputProblems(inputs).map(({ path }) => path)).toEqual([
      ["extraArgs", "a-b"],
      ["extraArgs", "max-model-len"],
      ["host"],
      ["gpus"],
    ]);
  });

  test("that are only a part are judged without what is not there", () => {
    const parts = [
      {},
      { host: { user: "ubuntu" }, model: { verify: "full" } },
      { host: null, model: null },
      { listen: { address: "0.0.0.0" } },
      { gpus: 1, engine: { tensorParallelSize: 8 } },
    ];
    expect(parts.map((inputs) => inputProblems(inputs, { isPart: true }))).toEqual(parts.map(() => []));
    const wrong = { host: { user: 7 }, model: { path: "/m", repo: "org/name" }, kvCacheDType: "auto" };
    expect(inputProblems(wrong, { isPart: true })).toEqual([
      { path: ["kvCacheDType"], found: "text", wanted: "kvCacheDtype (the nearest known name)" },
      { path: ["host", "user"], found: "7", wanted: "a user name: no blanks, no dash in front" },
      { path: ["model"], found: "an object", wanted: "either path or repo, here path, repo" },
    ]);
  });

  test("of which some are secret are told without their texts", () => {
    const inputs = { ...whole, kvCacheDtype: "FP8", gpus: ["one"], timeouts: { ready: 0 }, engin: {} };
    expect(inputProblems(inputs, { holdsSecrets: true })).toEqual([
      { path: ["engin"], found: "an object", wanted: "engine (the nearest known name)" },
      { path: ["timeouts", "ready"], found: "0", wanted: "a number: seconds above 0, at most 604800" },
      { path: ["kvCacheDtype"], found: "text (not shown)", wanted: "vLLM's own name in small letters" },
      {
        path: ["gpus"],
        found: "text (not shown)",
        wanted:
          'a number of GPUs of at least 1, or a list of different indexes and UUIDs such as [0, 1] or ["GPU-..."]',
      },
    ]);
  });
});

test("a written path is read back as it was", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.nat(1000),
    fc.constantFrom("a", "b-c", '"]["', "\\"),
  );
  fc.assert(
    fc.property(fc.array(part), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    }),
  );
});
