import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  fingerprintOf,
  gpusNeeded,
  overlayName,
  serverSlug,
  type Declaration,
} from "../../provider/src/core/identity";

const declaration: Declaration = {
  executable: "/opt/vllm/bin/vllm",
  modelPath: "/models/kimi",
  config: "port: 8000\n",
  environment: { NO_COLOR: "1", VLLM_ENGINE_READY_TIMEOUT_S: "3600" },
  gpus: { kind: "count", count: 1 },
};

describe("fingerprint", () => {
  it("is 16 hex digits, the same whatever the order of the keys", () => {
    const reversed = Object.fromEntries(Object.entries(declaration).reverse()) as unknown as Declaration;
    expect(fingerprintOf(declaration)).toMatch(/^[0-9a-f]{16}$/);
    expect(fingerprintOf(reversed)).toBe(fingerprintOf(declaration));
  });

  it.each([
    { executable: "/x" },
    { modelPath: "/x" },
    { config: "" },
    { environment: {} },
    { gpus: { kind: "none" } },
  ])("differs with another %j", (part) => {
    expect(fingerprintOf({ ...declaration, ...part })).not.toBe(fingerprintOf(declaration));
  });

  it("does not depend on timeouts.ready, which changes without a restart", () => {
    const environment = { ...declaration.environment, VLLM_ENGINE_READY_TIMEOUT_S: "60" };
    expect(fingerprintOf({ ...declaration, environment })).toBe(fingerprintOf(declaration));
  });
});

describe("names", () => {
  it.each([
    ["kimi", "kimi"],
    ["Kimi K2.5 / NVFP4", "kimi-k2-5-nvfp4"],
    ["--", "server"],
    ["ünïcode", "n-code"],
    ["a".repeat(40), "a".repeat(32)],
    [`${"a".repeat(31)}-b`, "a".repeat(31)],
  ])("slug of %s is %s", (name, slug) => {
    expect(serverSlug(name)).toBe(slug);
  });

  it("slugs are always 1 to 32 characters of a-z, 0-9 and inner dashes", () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(serverSlug(name)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/);
      }),
    );
  });

  it("overlays are named by checkpoint and files, without a dot", () => {
    const files = { "config.json": "{}" };
    expect(overlayName("/m", files)).toMatch(/^[0-9a-f]{32}$/);
    expect(overlayName("/m", { ...files })).toBe(overlayName("/m", files));
    expect(
      new Set([
        overlayName("/m", files),
        overlayName("/n", files),
        overlayName("/m", { "config.json": "{ }" }),
      ]).size,
    ).toBe(3);
  });
});

describe("GPUs needed", () => {
  it.each([
    [{}, {}, 1],
    [{ tensorParallelSize: 4, pipelineParallelSize: 2, dataParallelSize: 3 }, {}, 24],
    [{ tensorParallelSize: 2 }, { "prefill-context-parallel-size": 2, "decode-context-parallel-size": 2 }, 4],
  ])("%j and %j need %d", (engine, extraArgs, count) => {
    expect(gpusNeeded(engine, extraArgs)).toBe(count);
  });
});

it("canonical JSON sorts keys at every depth and keeps the value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(canonicalJson({ b: [{ d: 1, c: undefined }], a: null })).toBe('{"a":null,"b":[{"d":1}]}');
});
