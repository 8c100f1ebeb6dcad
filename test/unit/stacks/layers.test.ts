import { describe, expect, test } from "vitest";
import { mergeLayers, type Layer } from "../../../stacks/layers";

const layer = (path: string, inputs: Layer["inputs"]): Layer => ({ path, inputs });

function mergedOf(...inputs: readonly Layer["inputs"][]): Layer["inputs"] {
  const layers = inputs.map((one, index) => layer(`layer ${String(index)}`, one));
  const [last = layer("none", {}), ...below] = layers.reverse();
  return mergeLayers(below.reverse(), last).inputs;
}

describe("a later layer", () => {
  test("adds to objects at any depth", () => {
    const below = { engine: { maxModelLen: 4096 }, service: { restart: { max: 5, delaySeconds: 1 } } };
    const above = { engine: { dtype: "bfloat16" }, service: { restart: { max: 2 } } };
    expect(mergedOf(below, above)).toEqual({
      engine: { maxModelLen: 4096, dtype: "bfloat16" },
      service: { restart: { max: 2, delaySeconds: 1 } },
    });
  });

  test.each([
    ["a list", { gpus: [0, 1, 2] }, { gpus: [3] }],
    ["a text by an object", { model: "org/name" }, { model: { path: "/m" } }],
    ["an object by a text", { host: { host: "gpu1", user: "u" } }, { host: "gpu2" }],
  ])("replaces %s", (_, below, above) => {
    expect(mergedOf(below, above)).toEqual(above);
  });

  test("takes away with null, a whole input or a member of it, and a layer above can bring it back", () => {
    const below = { apiKey: "k", engine: { dtype: "half", maxModelLen: 1 }, environment: { A: "1", B: "2" } };
    const above = { apiKey: null, engine: { dtype: null }, environment: { A: null }, gpus: null };
    const rest = { engine: { maxModelLen: 1 }, environment: { B: "2" } };
    expect(mergedOf(below, above)).toEqual(rest);
    expect(mergedOf(below, above, { apiKey: "l" })).toEqual({ ...rest, apiKey: "l" });
  });

  test("hands null on where it is a value: inside overrides and inside flags that are objects", () => {
    const below = {
      quantizationConfigOverrides: { kv_cache_scheme: { num_bits: 8 }, group: 16 },
      configOverrides: { rope_scaling: { factor: 2 } },
      engine: { hfOverrides: { a: 1, b: 2 }, dtype: "half" },
      extraArgs: { "attention-config": { a: 1 }, "stream-interval": 4 },
    };
    const above = {
      quantizationConfigOverrides: { kv_cache_scheme: null },
      configOverrides: { rope_scaling: { factor: null } },
      engine: { hfOverrides: { a: null } },
      extraArgs: { "attention-config": { a: null }, "stream-interval": null },
    };
    expect(mergedOf(below, above)).toEqual({
      quantizationConfigOverrides: { kv_cache_scheme: null, group: 16 },
      configOverrides: { rope_scaling: { factor: null } },
      engine: { hfOverrides: { a: null, b: 2 }, dtype: "half" },
      extraArgs: { "attention-config": { a: null } },
    });
    expect(mergedOf(below, { configOverrides: null, quantizationConfigOverrides: null })).toEqual({
      engine: below.engine,
      extraArgs: below.extraArgs,
    });
  });
});

describe("a value", () => {
  const defaults = layer("defaults", { engine: { maxModelLen: 1, dtype: "half" }, gpus: [0, "x"] });
  const group = layer("groups.a", { engine: { maxModelLen: 2 } });
  const server = layer("servers.s", { host: "gpu1", engine: { dtype: null } });
  const { layerOf } = mergeLayers([defaults, group], server);

  test.each([
    [["gpus"], "defaults"],
    [["gpus", 1], "defaults"],
    [["engine", "maxModelLen"], "groups.a"],
    [["host"], "servers.s"],
  ])("at %j comes from the layer that said it last", (path, expected) => {
    expect(layerOf(path).path).toBe(expected);
  });

  test.each([[["model"]], [["engine", "dtype"]], [["engine", "none"]], [[]]])(
    "at %j, which is not there, would be written with the server",
    (path) => {
      expect(layerOf(path).path).toBe("servers.s");
    },
  );
});
