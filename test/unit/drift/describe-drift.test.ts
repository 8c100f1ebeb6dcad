import { describe, expect, it } from "vitest";
import { describeDrift, diffInputs } from "../../../provider/src/core/diff";
import type { RecordedDrift } from "../../../provider/src/core/drift";

describe("describeDrift", () => {
  const same = { ...diffInputs({}, {}, { oldHost: "", newHost: "" }), restart: [] };
  const context = { lastStartSeconds: null, status: "stopped" };

  const entry = (line: string, repair: RecordedDrift["repair"]): RecordedDrift => ({ line, repair });
  const described = (...drift: readonly RecordedDrift[]): readonly string[] =>
    describeDrift(drift, same, context);

  it("says whether it costs a restart", () => {
    expect(described(entry("a", "live"), entry("b", "live"))).toEqual(["no restart: a; b"]);
    expect(described(entry("a", "wait"))).toEqual(["no restart, waits until it answers: a"]);
    expect(described(entry("a", "restart"))).toEqual(["restart: a; down until it is ready again"]);
    expect(described(entry("a", "start"))).toEqual(["start: a"]);
    expect(described(entry("a", "none"))).toEqual(["not repaired by an update: a"]);
    expect(described()).toEqual([]);
  });

  it("tells once what one restart or start repairs together", () => {
    expect(described(entry("a", "live"), entry("b", "restart"), entry("c", "none"))).toEqual([
      "not repaired by an update: c",
      "restart: a; b; down until it is ready again",
    ]);
    expect(described(entry("a", "restart"), entry("b", "start"))).toEqual(["start: a; b"]);
  });

  it("leaves the word to a changed input, which restarts it anyway", () => {
    const change = { path: "engine.maxModelLen", from: "1", to: "2", isSecret: false };
    expect(describeDrift([entry("a", "start")], { ...same, restart: [change] }, context)).toEqual([]);
  });
});
