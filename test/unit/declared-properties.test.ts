import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readDeclarations } from "../../scripts/declared-properties.mjs";
import { inputsPage } from "../../scripts/inputs-page.mjs";
import { repositoryFolder } from "../../scripts/places.mjs";

const folder = mkdtempSync(join(tmpdir(), "declared-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("docs/inputs.md is what the docstrings give (node scripts/inputs-page.mjs)", async () => {
  const page = readFileSync(join(repositoryFolder, "docs/inputs.md"), "utf8");
  expect(page).toBe(await inputsPage());
});

test("a property is told by its type without wrappers, whether it is required, and its docstring in one line", () => {
  const file = written(
    "whole.ts",
    `/** What a box is. */
export interface BoxArgs {
  /**
   * Where it stands,
   * and since when.
   */
  readonly place: Input<string | PlaceArgs>;
  /** Its sides. */
  readonly sides?: Input<readonly Input<number | "auto">[]> | undefined;
  /** By name. */
  readonly labels?: Input<{ readonly [name: string]: Input<string> }> | undefined;
}
interface Inner { untold: string }
/** A place. */
export type PlaceArgs = Omit<BoxArgs, "place">;`,
  );
  expect([...readDeclarations([file]).values()]).toEqual([
    {
      name: "BoxArgs",
      text: "What a box is.",
      type: undefined,
      names: ["PlaceArgs"],
      properties: [
        {
          name: "place",
          type: "string | PlaceArgs",
          names: ["PlaceArgs"],
          isRequired: true,
          text: "Where it stands, and since when.",
        },
        { name: "sides", type: '(number | "auto")[]', names: [], isRequired: false, text: "Its sides." },
        { name: "labels", type: "{ [name]: string }", names: [], isRequired: false, text: "By name." },
      ],
    },
    {
      name: "PlaceArgs",
      text: "A place.",
      type: 'Omit<BoxArgs, "place">',
      names: ["BoxArgs"],
      properties: [],
    },
  ]);
});

test("what has no docstring is told, all at once", () => {
  const file = written(
    "bare.ts",
    "export interface Bare {\n  readonly a: string;\n  /** b */\n  readonly b: string;\n}",
  );
  expect(() => readDeclarations([file])).toThrow("Without a docstring: Bare, Bare.a");
});
