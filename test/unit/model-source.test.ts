import { describe, expect, it } from "vitest";
import { checkpointKey, checkpointWish, keptRevision, modelName } from "../../provider/src/core/model-source";
import type { HubModel } from "../../provider/src/core/spec";
import { hubModel } from "../support/host-facts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const OTHER = "fedcba9876543210fedcba9876543210fedcba98";
const key = (parts: Partial<HubModel> = {}, urn = "one"): string => checkpointKey(hubModel(parts), urn);

describe("the key of a checkpoint", () => {
  it("is 16 hex digits, and stays what it is", () => {
    expect(key({ revision: COMMIT })).toMatch(/^[0-9a-f]{16}$/);
    expect(checkpointWish(hubModel({ revision: COMMIT }), "one")).toBe(
      `checkpoints/${key({ revision: COMMIT })}`,
    );
    expect(checkpointWish({ kind: "local", path: "/m", verify: "full" }, "one")).toBe("/m");
  });

  it.each([{ token: "hf" }, { verify: "full" as const }, { endpoint: "https://u:p@mirror" }])(
    "does not change with how it is got: %j",
    (parts) => {
      const same = "endpoint" in parts ? { endpoint: "https://mirror" } : {};
      expect(key(parts)).toBe(key(same));
    },
  );

  it.each<Partial<HubModel>>([
    { repo: "nvidia/other" },
    { revision: "main" },
    { include: ["*.json"] },
    { exclude: ["*.json"] },
    { endpoint: "https://mirror" },
    { cacheDir: "/data/hub" },
  ])("is another one with %j", (parts) => {
    expect(key(parts)).not.toBe(key());
  });

  it("is everybody's for a commit, and the resource's own for what moves", () => {
    expect(key({ revision: COMMIT }, "one")).toBe(key({ revision: COMMIT }, "two"));
    expect(key({ revision: "main" }, "one")).not.toBe(key({ revision: "main" }, "two"));
    expect(key({}, "one")).not.toBe(key({}, "two"));
  });
});

describe("a revision that was resolved once", () => {
  it("stays while the model is the same, whoever may get it and however it is verified", () => {
    const now = hubModel({ token: "new", verify: "full" });
    expect(keptRevision(hubModel({ token: "old" }), now, COMMIT)).toBe(COMMIT);
  });

  it.each<[string, Partial<HubModel>]>([
    ["branch", { revision: "main" }],
    ["repository", { repo: "nvidia/other" }],
    ["selection", { include: ["*"] }],
    ["hub", { endpoint: "https://mirror" }],
  ])("is resolved anew with another %s", (_what, parts) => {
    expect(keptRevision(hubModel(), hubModel(parts), OTHER)).toBeNull();
  });

  it("is none where nothing or nothing of the kind is recorded", () => {
    const local = { kind: "local", path: "/m", verify: "headers" } as const;
    expect(keptRevision(hubModel(), hubModel(), null)).toBeNull();
    expect(keptRevision(hubModel(), hubModel(), "main")).toBeNull();
    expect(keptRevision(local, hubModel(), COMMIT)).toBeNull();
    expect(keptRevision(null, hubModel(), COMMIT)).toBeNull();
  });
});

it("a model is named as vLLM names it: a repository whole, a folder by its own name", () => {
  expect(modelName(hubModel())).toBe("nvidia/kimi");
  expect(modelName({ kind: "local", path: "/models/nvidia/kimi", verify: "headers" })).toBe("kimi");
});
