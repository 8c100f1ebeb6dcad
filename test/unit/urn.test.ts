import { describe, expect, it } from "vitest";
import { parseUrn } from "../../provider/src/core/urn";

const TYPE = "pulumi-nodejs:dynamic/vllm:VllmServer";

describe("parseUrn", () => {
  it.each([
    [`urn:pulumi:prod::shop::${TYPE}::kimi`, "kimi"],
    [`urn:pulumi:prod::shop::my:mod:Group$${TYPE}::kimi`, "kimi"],
    [`urn:pulumi:prod::shop::${TYPE}::one :: two`, "one :: two"],
    [`urn:pulumi:prod::shop::${TYPE}::日本語`, "日本語"],
  ])("finds stack, project and name in %s", (urn, name) => {
    expect(parseUrn(urn)).toEqual({ stack: "prod", project: "shop", name });
  });
});
