import { describe, expect, it } from "vitest";
import { grantedKvDtypes, kvCacheDtypeOf } from "../../provider/src/core/kv-cache-granted";
import { PROVEN } from "../support/told-host";

describe("what counts as the wished KV cache", () => {
  it.each([
    ["auto", null],
    ["bfloat16", ["bfloat16"]],
    ["float16", ["float16"]],
    ["fp8", ["fp8", "fp8_e4m3", "fp8_ds_mla"]],
    ["fp8_e4m3", ["fp8_e4m3", "fp8", "fp8_ds_mla"]],
    ["fp8_e5m2", ["fp8_e5m2"]],
    ["nvfp4", ["nvfp4"]],
  ])("%s: %j", (wish, granted) => {
    expect(grantedKvDtypes(wish)).toEqual(granted);
  });
});

describe("the type that a server tells", () => {
  it("is the one that all its places come to, else what its metrics say", () => {
    const cacheConfig = { cache_dtype: "auto" };
    expect(kvCacheDtypeOf({ ...PROVEN, cacheConfig, kvCacheDtype: "bfloat16" })).toBe("bfloat16");
    expect(kvCacheDtypeOf({ ...PROVEN, cacheConfig, kvCacheDtype: null })).toBe("auto");
    expect(kvCacheDtypeOf({ ...PROVEN, cacheConfig: {}, kvCacheDtype: null })).toBeNull();
    expect(kvCacheDtypeOf(null)).toBeNull();
  });
});
