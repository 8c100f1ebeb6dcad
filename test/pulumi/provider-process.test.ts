import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";
import { type PulumiEngine, startPulumiEngine } from "../support/pulumi-engine";
import { DynamicProvider, initFailureOf } from "../support/pulumi-provider";

const URN = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/vllm:VllmServer::kimi";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const PROVIDER = readFileSync(join(import.meta.dirname, "provider-text.snapshot.js.txt"), "utf8");
const hidden = { __provider: PROVIDER, __urn: URN };
const declared = { ...hidden, host: "gpu1", model: { path: "/models/kimi" } };

let engine: PulumiEngine;
let provider: DynamicProvider;

beforeAll(async () => {
  engine = await startPulumiEngine();
  provider = await DynamicProvider.start(engine.address);
});

afterAll(async () => {
  await provider.stop();
  engine.stop();
});

/** A provider of one hook that uses the real adapter; what Pulumi makes of its results is what is looked at. */
function hook(text: string): Readonly<Record<string, string>> {
  const adapter = JSON.stringify(join(repositoryFolder, "provider", "dist", "pulumi", "adapter"));
  return {
    __provider: `const { toOutputs, initError } = require(${adapter}); exports.handler = () => ({ ${text} });`,
  };
}

test("check adds the outputs that follow from the inputs, the status an update reaches, and carries the provider text", async () => {
  expect(await provider.check({}, declared)).toEqual({
    inputs: {
      ...declared,
      url: "http://127.0.0.1:8000",
      baseUrl: "http://127.0.0.1:8000/v1",
      servedModelName: "kimi",
      tunnelCommand: "ssh -N -L 8000:127.0.0.1:8000 gpu1",
      modelRevision: null,
      status: "ready",
    },
    failures: [],
  });
});

test("check tells the commit that is declared, and of a branch nothing, whatever is marked secret", async () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const pinned = await provider.check({}, { ...declared, model: `org/m@${commit}` });
  expect(pinned.inputs).toMatchObject({ modelRevision: commit });
  const moving = await provider.check({}, { ...declared, model: { repo: "org/m", revision: "main" } });
  expect(moving.inputs).not.toHaveProperty("modelRevision");
  const marked = { ...declared, model: "org/m@main", modelRevision: null, __secrets: ["model"] };
  expect((await provider.check({}, marked)).inputs).not.toHaveProperty("modelRevision");
});

test("check lets values pass that are not known yet, at any depth", async () => {
  const news = {
    ...declared,
    host: { host: UNKNOWN, port: 22 },
    engine: { servedModelName: ["a", UNKNOWN] },
  };
  const derived = {
    url: "http://127.0.0.1:8000",
    baseUrl: "http://127.0.0.1:8000/v1",
    servedModelName: UNKNOWN,
    tunnelCommand: UNKNOWN,
    modelRevision: null,
    status: "ready",
  };
  expect(await provider.check({}, news)).toEqual({ inputs: { ...news, ...derived }, failures: [] });
});

test("check keeps nested null", async () => {
  const news = { ...declared, configOverrides: { text_config: { rope_scaling: null } } };
  const { inputs } = await provider.check({}, news);
  expect(inputs["configOverrides"]).toEqual({ text_config: { rope_scaling: null } });
});

test("check reports every problem at its path", async () => {
  const { failures } = await provider.check({}, { ...declared, engin: {}, listen: { port: 70000 } });
  expect(failures).toEqual([
    { property: "", reason: "engin: found an object, need engine (the nearest known name)" },
    { property: "", reason: "listen.port: found 70000, need a whole number from 1 to 65535 (TCP port)" },
  ]);
});

test("check names no property, whose value Pulumi would print", async () => {
  const { failures } = await provider.check(
    {},
    { ...declared, env: { TOKEN: "sk-123" }, apiKey: ["sk-123"] },
  );
  expect(failures.map((failure) => failure.property)).toEqual(["", ""]);
  expect(JSON.stringify(failures)).not.toContain("sk-123");
});

test("diff of the same inputs is none; another URN is a change, which the host's record has to learn", async () => {
  const { inputs } = await provider.check({}, declared);
  const olds = { ...inputs, status: "ready", drift: [], pid: 1 };
  expect(await provider.diff(olds, inputs)).toBe("none");
  expect(await provider.diff(olds, { ...inputs, __urn: `${URN}2` })).toBe("some");
});

test("diff says what an update does on the resource's own line, before it returns", async () => {
  const { inputs: olds } = await provider.check({}, declared);
  const { inputs: news } = await provider.check({}, { ...declared, engine: { maxModelLen: 16384 } });
  const before = engine.lines.length;
  expect(await provider.diff({ ...olds, status: "ready", drift: [] }, news)).toBe("some");
  const said = engine.lines.slice(before);
  expect(said.map((line) => [line.urn, line.severity, line.isEphemeral])).toEqual([[URN, "info", false]]);
  expect(said[0]?.text).toMatch(/^restart: .*engine\.maxModelLen/);
});

test("diff leaves drift that a refresh put into the inputs to the engine, and says what an update does about it", async () => {
  const { inputs } = await provider.check({}, declared);
  const drift = { drift: ["a: x", "b: y"], __repairs: ["live", "live"] };
  const before = engine.lines.length;
  expect(await provider.diff({ ...inputs, ...drift, __foundInInputs: true }, inputs)).toBe("unknown");
  expect(engine.lines.slice(before).map(({ text }) => text)).toEqual(["no restart: a: x; b: y"]);
  expect(await provider.diff({ ...inputs, ...drift }, inputs)).toBe("some");
});

test("check takes no value for the program's that only stands for a secret of the host", async () => {
  const environment = { TOKEN: "(on the host, sha256 0a1b2c3d)" };
  const { failures } = await provider.check({}, { ...declared, environment });
  expect(failures).toEqual([
    {
      property: "",
      reason:
        "environment.TOKEN: the value on the host is another one and not known here, need it declared; take it out of ignoreChanges",
    },
  ]);
});

test("undefined in outputs ends the operation, unless they go through toOutputs", async () => {
  const values = "{ a: undefined, b: null, c: [undefined], d: { e: undefined } }";
  const bare = hook(`create: async () => ({ id: "1", outs: ${values} })`);
  await expect(provider.create(bare)).rejects.toThrow("Unexpected struct type.");
  const clean = hook(`create: async () => ({ id: "1", outs: toOutputs(${values}, {}) })`);
  expect(await provider.create(clean)).toEqual({
    id: "1",
    properties: { b: null, c: [null], d: {}, ...clean },
  });
});

test("an init error keeps id, properties and provider text; only it does", async () => {
  const failing = hook(
    `create: async (inputs) => { throw initError("kimi-1", { ...inputs, pid: null }, ["it failed"]); }`,
  );
  const error: unknown = await provider.create(failing).catch((reason: unknown) => reason);
  expect(initFailureOf(error)).toEqual({
    id: "kimi-1",
    properties: { ...failing, pid: null },
    reasons: ["it failed"],
  });
  const plain = hook(`create: async () => { throw new Error("it failed"); }`);
  expect(initFailureOf(await provider.create(plain).catch((reason: unknown) => reason))).toBeNull();
});

test("the provider process ends by itself when its engine is gone", async () => {
  const own = await startPulumiEngine();
  const orphan = await DynamicProvider.start(own.address);
  try {
    const watch = JSON.stringify(join(repositoryFolder, "provider", "dist", "pulumi", "parent-watch"));
    const watching = `exports.handler = () => ({ create: async () => (require(${watch}).watchParent(), { id: "1", outs: {} }) });`;
    await orphan.create({ __provider: watching });
    const exit = once(orphan.process, "exit");
    own.stop();
    expect(await exit).toEqual([1, null]);
  } finally {
    await orphan.stop();
  }
});
