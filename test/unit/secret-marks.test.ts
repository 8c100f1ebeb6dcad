import { describe, expect, it } from "vitest";
import { describeDiff, diffInputs } from "../../provider/src/core/diff";
import { parseInputs } from "../../provider/src/core/parse-inputs";
import { redact } from "../../provider/src/core/redact";
import { markedTexts, readMarks, withoutMarkedValue } from "../../provider/src/core/secret-marks";
import { spec } from "../support/host-facts";

const least = { host: "gpu1", model: { path: "/m" } };
const sameHost = { oldHost: "gpu1:22", newHost: "gpu1:22" };
const context = { lastStartSeconds: null, status: null };

describe("what the program marks secret", () => {
  it("is not shown when it is wrong, nor what was probably meant", () => {
    const inputs = { ...least, engine: { maxModelLen: "4242", maxNumSeqs: "17" }, gpus: ["pin"] };
    const result = parseInputs(inputs);
    const marks = ["engine.maxModelLen", "gpus[0]"];
    const problems = result.ok ? [] : result.problems.map((problem) => withoutMarkedValue(problem, marks));
    expect(problems.map((problem) => problem.message)).toEqual([
      'engine.maxModelLen: found a secret (not shown), need a whole number of tokens of at least 1, or "auto"',
      'engine.maxNumSeqs: found "17", need a whole number of at least 1 (requests), here 17',
      'gpus: found a secret (not shown), need a number of GPUs of at least 1, or a list of different indexes and UUIDs such as [0, 1] or ["GPU-..."]',
    ]);
  });

  it("is not shown when it changes, in a list or in an object as little as alone", () => {
    const olds = {
      engine: { servedModelName: ["old-a"], chatTemplate: "old-b" },
      extraArgs: { x: { y: "old-c" } },
    };
    const news = { engine: { servedModelName: ["new-a"] }, extraArgs: { x: { y: "new-c", z: 1 } } };
    const marks = ["engine.servedModelName[0]", "engine.chatTemplate", "extraArgs.x.y"];
    const diff = diffInputs({ ...least, ...olds }, { ...least, ...news }, sameHost, marks);
    expect(JSON.stringify(diff)).not.toMatch(/old-|new-/);
    expect(describeDiff(diff, context)).toEqual([
      "restart: engine.chatTemplate removed, engine.servedModelName changed, extraArgs.x.y changed, extraArgs.x.z (not set) -> 1; down until it is ready again",
    ]);
  });

  it("is not shown when it is the host", () => {
    const identities = { oldHost: "root@old-host:22", newHost: "root@new-host:22" };
    const diff = diffInputs(least, { ...least, host: "new-host" }, identities, ["host"]);
    expect(describeDiff(diff, context)).toEqual([
      "replacement: host changed; the new server is started first, then the old one is stopped",
    ]);
  });

  it("is taken out of what the host says", () => {
    const inputs = { ...least, extraArgs: { a: { b: ["s3cret-1", 5, null] }, c: "plain" }, gpus: 1 };
    const marked = markedTexts(inputs, ["extraArgs.a", "gpus"]);
    expect(marked).toEqual(["s3cret-1"]);
    expect(redact(spec(), "invalid choice: s3cret-1 (plain)", marked)).toBe(
      "invalid choice: [secret] (plain)",
    );
  });

  it("is nothing where no program says so", () => {
    expect(readMarks(undefined)).toEqual([]);
    expect(readMarks(["a", 1])).toEqual(["a"]);
    expect(markedTexts(least, [])).toEqual([]);
  });
});
