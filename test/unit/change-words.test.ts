import { join } from "node:path";
import { expect, test } from "vitest";
import { EFFECTS, effectOf, type Effect } from "../../provider/src/core/diff-effects";
import { INPUT_NAMES } from "../../provider/src/core/input-reader";
import { readDeclarations } from "../../scripts/declared-properties.mjs";
import { repositoryFolder } from "../../scripts/places.mjs";

/** What a docstring says of a change is what a preview makes of it. */

const sources = ["args.ts", "host-args.ts", "engine-args.ts"].map((name) =>
  join(repositoryFolder, "provider/src/pulumi", name),
);
const declarations = readDeclarations(sources);

/** [declaration, the input its members belong to] */
const MEMBERS: readonly (readonly [string, string])[] = [
  ["ModelArgs", "model."],
  ["VllmArgs", "vllm."],
  ["ServiceArgs", "service."],
];

/** The first words of what stands behind "Change:". */
const WORDS: readonly (readonly [RegExp, Effect])[] = [
  [/^(restart\b|as of indexUrl|a new one is installed .*; then a restart)/, "restart"],
  [/^(no restart\b|nothing\b)/, "live"],
];

interface Told {
  readonly path: string;
  readonly change: string;
}

function toldIn(name: string, prefix: string): readonly Told[] {
  const { properties = [] } = declarations.get(name) ?? {};
  return properties.flatMap((property) => {
    const change = /Change: (.*)$/.exec(property.text)?.[1];
    return change === undefined ? [] : [{ path: prefix + property.name, change }];
  });
}

const effectTold = (change: string): Effect | undefined => WORDS.find(([words]) => words.test(change))?.[1];

const inputs = toldIn("VllmServerArgs", "");
const members = MEMBERS.flatMap(([name, prefix]) => toldIn(name, prefix));

test("every input says what a change of it means; host says it of its parts", () => {
  expect(inputs.map(({ path }) => path).sort()).toEqual(INPUT_NAMES.filter((name) => name !== "host").sort());
  expect(members.length).toBeGreaterThan(15);
  const host = declarations.get("VllmServerArgs")?.properties.find(({ name }) => name === "host");
  expect(host?.text).toContain(
    "Another machine: replacement, the new one first. Other credentials: no restart.",
  );
});

test.each(inputs)("$path: $change", ({ path, change }) => {
  expect([path, effectTold(change)]).toEqual([
    path,
    Object.entries(EFFECTS).find(([name]) => name === path)?.[1],
  ]);
});

test.each(members)("$path: $change", ({ path, change }) => {
  expect([path, effectTold(change)]).toEqual([path, effectOf(path)]);
});
