import { expect, test } from "vitest";
import { fromWire, initError, toOutputs } from "../../provider/src/pulumi/adapter";

const URN = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/vllm:VllmServer::kimi";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

test("hidden properties are taken out of the inputs and kept", () => {
  const wire = { __provider: "text", __urn: URN, host: "gpu1", model: { path: "/m" } };
  expect(fromWire(wire)).toEqual({
    inputs: { host: "gpu1", model: { path: "/m" } },
    urn: URN,
    marks: [],
    hidden: { __provider: "text", __urn: URN },
  });
});

test("a URN that is missing or not known yet is empty", () => {
  expect(fromWire({ host: "gpu1" })).toEqual({ inputs: { host: "gpu1" }, urn: "", marks: [], hidden: {} });
  expect(fromWire({ __urn: UNKNOWN }).urn).toBe("");
});

test("outputs lose undefined at any depth, keep null, and carry the hidden properties", () => {
  const values = {
    a: undefined,
    b: null,
    c: { d: undefined, e: null, f: [1, undefined, { g: undefined }] },
    h: false,
  };
  expect(toOutputs(values, { __provider: "text" })).toStrictEqual({
    b: null,
    c: { e: null, f: [1, null, {}] },
    h: false,
    __provider: "text",
  });
});

test("what is no JSON is refused before Pulumi sees it", () => {
  expect(() => toOutputs({ a: { b: () => 1 } }, {})).toThrow(
    "Cannot hand a function to Pulumi: need plain JSON",
  );
  expect(() => toOutputs({ a: 1n }, {})).toThrow("Cannot hand a bigint to Pulumi: need plain JSON");
});

test("an init error carries the id, clean properties and the reasons", () => {
  const error = initError("kimi-1", { __provider: "text", pid: null, gone: undefined }, ["first", "second"]);
  const { id, properties, reasons, message } = error;
  expect({ id, properties, reasons, message }).toStrictEqual({
    id: "kimi-1",
    properties: { __provider: "text", pid: null },
    reasons: ["first", "second"],
    message: "first\nsecond",
  });
});
