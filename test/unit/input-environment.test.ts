import { describe, expect, it } from "vitest";
import { parseInputs } from "../../provider/src/core/parse-inputs";

function judged(environment: object): readonly string[] {
  const result = parseInputs({ host: "gpu1", model: { path: "/m" }, environment });
  return result.ok ? [] : result.problems.map((problem) => problem.message);
}

describe("environment", () => {
  it("takes any text under a shell's kind of name", () => {
    expect(judged({ HF_TOKEN: "x", _a1: "", VLLM_LOGGING_LEVEL: "DEBUG", LEFT_OUT: null })).toEqual([]);
  });

  it.each([
    ["1A", "a name of letters, digits and _, not beginning with a digit"],
    ["A-B", "a name of letters, digits and _, not beginning with a digit"],
    ["CUDA_VISIBLE_DEVICES", "gpus"],
    ["VLLM_API_KEY", "apiKey"],
    ["TMPDIR", "nothing: each server has a temporary folder of its own"],
    ["PULUMI_VLLM_SERVER", "nothing: it marks the processes of this server"],
    ["VLLM_ENGINE_READY_TIMEOUT_S", "timeouts.ready"],
  ])("refuses %s", (name, wanted) => {
    const place = /^[A-Za-z_]\w*$/.test(name)
      ? `environment.${name}`
      : `environment[${JSON.stringify(name)}]`;
    expect(judged({ [name]: "x" })).toEqual([`${place}: found text (not shown), need ${wanted}`]);
  });

  it("wants numbers in quotes", () => {
    expect(judged({ A: 1 })).toEqual([
      "environment.A: found a number (not shown), need text: put numbers and true or false in quotes",
    ]);
  });
});
