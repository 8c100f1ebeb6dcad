import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, expect, test } from "vitest";
import { nodeBinFolder, repositoryFolder } from "../../scripts/places.mjs";
import { capture } from "../../scripts/processes.mjs";

/** The step of `npm run check` that reads the package's exports as typedoc does. */

const folder = mkdtempSync(join(tmpdir(), "api-reference-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("an export or a property without a docstring fails it", async () => {
  const compilerOptions = { module: "nodenext", target: "es2022", types: [] };
  const options = { extends: [join(repositoryFolder, "typedoc.json")], entryPoints: ["index.ts"] };
  const files: Readonly<Record<string, string>> = {
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["index.ts"] }),
    "typedoc.json": JSON.stringify({ ...options, tsconfig: "tsconfig.json", readme: "none" }),
    "index.ts": `/** Told. */
export interface Told {
  readonly untold: string;
  /** Told too. */
  readonly told: string;
}
export const UNTOLD = 1;
`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { code, stdout, stderr } = await capture(
    join(nodeBinFolder, "typedoc"),
    ["--options", join(folder, "typedoc.json"), "--emit", "none"],
    { cwd: repositoryFolder, timeoutSeconds: 60 },
  );
  const lines = stripVTControlCharacters(`${stdout}${stderr}`).split("\n");
  const told = lines.filter((line) => line.endsWith("does not have any documentation"));
  expect(told.map((line) => line.replace(/^\[\w+\] (.*?), .*$/, "$1"))).toEqual([
    "Told.untold (Property)",
    "UNTOLD (Variable)",
  ]);
  expect(code).not.toBe(0);
}, 60_000);
