import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../provider/src/core/json";
import { seenIn, unreachedUpdate } from "../../provider/src/core/unreached-update";

const inputs = { __urn: "u", __provider: "p", host: "gpu1", model: { path: "/models/kimi" } };
const seen = { status: "ready", drift: [], pid: 4242, url: "http://127.0.0.1:8000" };
const olds = { ...inputs, ...seen, timeouts: { ready: 900 } };
const wish = { onDelete: { unreachableHost: "forget" } };
const kindOf = (before: JsonObject, after: JsonObject): string => unreachedUpdate(before, after).kind;

describe("an update whose host cannot be reached", () => {
  it("is recorded whole where nothing of it is the host's business: new inputs, and what was seen before", () => {
    expect(unreachedUpdate(olds, { ...inputs, ...wish, readiness: { probe: "chat" } })).toEqual({
      kind: "all",
      outputs: { ...inputs, ...seen, ...wish, readiness: { probe: "chat" } },
    });
  });

  it("is recorded whole where only the provider's own text is new", () => {
    expect(kindOf(olds, { ...olds, __provider: "q" })).toBe("all");
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["an input that restarts", {}, { engine: { maxModelLen: 8192 } }],
    ["an input that a running server takes over", {}, { service: { restart: { max: 1 } } }],
    ["another way to the host, which may be the very one that does not work", {}, { host: "ann@gpu1" }],
    ["a new name of the resource, which the host's record follows", {}, { __urn: "v" }],
    ["drift to repair", { drift: ["it is stopped"] }, {}],
    ["an earlier update that failed", { status: "unknown" }, {}],
  ])("fails with %s, and still records what a deletion does", (_what, before, after) => {
    expect(unreachedUpdate({ ...olds, ...before }, { ...inputs, ...after, ...wish })).toEqual({
      kind: "deletion",
      outputs: { ...olds, ...before, ...wish },
    });
    expect(kindOf({ ...olds, ...before }, { ...inputs, ...after })).toBe("nothing");
  });

  it("can take a recorded wish back", () => {
    const changed = { ...inputs, engine: { maxModelLen: 8192 } };
    expect(unreachedUpdate({ ...olds, ...wish }, changed)).toEqual({ kind: "deletion", outputs: olds });
  });
});

it("what the state knows of the host is everything but the inputs", () => {
  expect(seenIn(olds)).toEqual({ __urn: "u", __provider: "p", ...seen });
});
