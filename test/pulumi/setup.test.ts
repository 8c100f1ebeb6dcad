import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { whatIsWrong } from "../../scripts/setup-pulumi.mjs";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const WHOLE = {
  pulumi: "#!/bin/sh\necho v3.276.0\n",
  "pulumi-language-nodejs": "#!/bin/sh\necho 'Usage of pulumi-language-nodejs:' >&2\nexit 2\n",
  "pulumi-resource-pulumi-nodejs": "#!/bin/sh\n",
};

function cacheOf(programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-vllm-setup-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

test("a cached Pulumi CLI that is whole is used", async () => {
  expect(await whatIsWrong(cacheOf(WHOLE))).toBeUndefined();
});

test.each([
  ["of another major version", { pulumi: "#!/bin/sh\necho v4.0.0\n" }, "version v4.0.0"],
  ["that is empty", { pulumi: "" }, "`pulumi version` failed"],
  ["with an empty language host", { "pulumi-language-nodejs": "" }, "pulumi-language-nodejs is empty"],
  [
    "with a language host that dies",
    { "pulumi-language-nodejs": "#!/bin/sh\nkill -SEGV $$\n" },
    "pulumi-language-nodejs does not start",
  ],
  [
    "with an empty dynamic provider",
    { "pulumi-resource-pulumi-nodejs": "" },
    "pulumi-resource-pulumi-nodejs is empty",
  ],
])("a cached Pulumi CLI %s is not used", async (_, broken, problem) => {
  expect(await whatIsWrong(cacheOf({ ...WHOLE, ...broken }))).toContain(problem);
});
