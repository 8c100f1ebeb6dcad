import { createRequire } from "node:module";
import { join } from "node:path";
import { serializeFunction } from "@pulumi/pulumi/runtime/closure/serializeClosure.js";
import { expect, test } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";

const require = createRequire(import.meta.url);

/** As @pulumi/pulumi 3.276 dynamic/index.js does it. */
async function textInState(): Promise<string> {
  const { blob: provider } = require(join(repositoryFolder, "provider", "dist", "pulumi", "blob.js"));
  return (await serializeFunction(() => provider, { allowSecrets: true })).text;
}

test("the provider text that goes into every state never changes", async () => {
  await expect(await textInState()).toMatchFileSnapshot("provider-text.snapshot.js.txt");
});

test("the provider text is at most 1 KB", async () => {
  expect(Buffer.byteLength(await textInState())).toBeLessThanOrEqual(1024);
});

test("the provider text asks for nothing but v1 of the runtime", async () => {
  const required = [...(await textInState()).matchAll(/require\([^)]*\)\.?\w*/g)].map(([match]) => match);
  expect(required).toEqual(['require("pulumi-vllm/runtime").v1']);
});

test("the runtime has every hook that the text in old states takes from it", () => {
  const { v1 } = require("pulumi-vllm/runtime");
  expect(Object.entries(v1).map(([name, hook]) => [name, typeof hook])).toEqual(
    ["check", "diff", "create", "read", "update", "delete"].map((name) => [name, "function"]),
  );
});
