import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { ENGINE_FLAGS } from "../../../provider/src/core/engine-flags";
import { HOST_NAMES } from "../../../provider/src/core/input-host";
import { MODEL_NAMES } from "../../../provider/src/core/input-model";
import { INPUT_NAMES } from "../../../provider/src/core/input-reader";
import { VLLM_NAMES } from "../../../provider/src/core/input-vllm";
import { repositoryFolder } from "../../../scripts/places.mjs";
import { SCHEMA_FILE, serversSchema } from "../../../scripts/servers-schema.mjs";

interface Definition {
  readonly description?: string;
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
}

const written = readFileSync(SCHEMA_FILE, "utf8");
const schema = JSON.parse(written);
const definitions: Readonly<Record<string, Definition>> = schema.definitions;
const stackFile = z.fromJSONSchema(schema);
const config = join(repositoryFolder, "stacks/config");

test("the schema's file is what the inputs' interfaces give: `node scripts/servers-schema.mjs` writes it", async () => {
  expect(written).toBe(await serversSchema());
});

test.each([
  ["VllmServerArgs", INPUT_NAMES],
  ["Server", ["group", ...INPUT_NAMES]],
  ["HostArgs", HOST_NAMES],
  ["ModelArgs", MODEL_NAMES],
  ["VllmArgs", VLLM_NAMES],
  ["EngineArgs", [...ENGINE_FLAGS.keys()]],
])("%s has the names that are taken, no more and no less", (name, names) => {
  expect(Object.keys(definitions[name]?.properties ?? {}).sort()).toEqual([...names].sort());
});

test("every input says what it is", () => {
  const properties = Object.entries(definitions).flatMap(([name, { properties }]) =>
    Object.entries(properties).map(([key, { description = "" }]) => ({
      path: `${name}.${key}`,
      description,
    })),
  );
  const silent = properties.filter(({ path, description }) => description === "" && path !== "Secret.secure");
  expect(silent).toEqual([]);
});

describe.each(readdirSync(config))("%s", (file) => {
  const text = readFileSync(join(config, file), "utf8");

  test("points editors to the schema, which it satisfies", () => {
    expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=../servers.schema.json");
    expect(stackFile.safeParse(parse(text)).error?.issues ?? []).toEqual([]);
  });
});

describe("the schema", () => {
  const isTaken = (servers: unknown): boolean =>
    stackFile.safeParse({ config: { "vllm-servers:servers": servers } }).success;

  test.each([
    ["a secret in place of a value", { kimi: { apiKey: { secure: "v1:abc" } } }],
    ["null, which takes away", { kimi: { engine: { dtype: null }, vllm: null } }],
    ["several groups", { kimi: { group: ["a", "b"] } }],
    ["a proxy of a host", { kimi: { host: { host: "gpu1", proxy: { host: "jump" } } } }],
  ])("takes %s", (_, servers) => {
    expect(isTaken(servers)).toBe(true);
  });

  test.each([
    ["a name that is none", { kimi: { engin: {} } }],
    ["a member that is none", { kimi: { engine: { maxModelLength: 1 } } }],
    ["a value of another kind", { kimi: { engine: { enforceEager: "yes" } } }],
    ["a word that is not in a closed list", { kimi: { service: { manager: "upstart" } } }],
    ["a server without inputs", { kimi: "gpu1" }],
  ])("refuses %s", (_, servers) => {
    expect(isTaken(servers)).toBe(false);
  });
});
