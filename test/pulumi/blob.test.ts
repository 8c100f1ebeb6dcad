import { execFileSync } from "node:child_process";
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

test("check and diff, and so a preview, do without loading SSH", () => {
  const program = `
    const { v1 } = require("pulumi-vllm/runtime");
    const loaded = () => Object.keys(require.cache).some((file) => file.includes("/node_modules/ssh2/"));
    (async () => {
      const { inputs } = await v1.check({}, { host: "ann@gpu1", model: { path: "/models/tiny" } });
      await v1.diff("chat-0a1b2c3d", inputs, inputs);
      const before = loaded();
      await v1.read("chat-0a1b2c3d", {}).catch(() => undefined);
      console.log(JSON.stringify([before, loaded()]));
    })();
  `;
  const printed = execFileSync(process.execPath, ["-e", program], {
    cwd: repositoryFolder,
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toEqual([false, true]);
});
