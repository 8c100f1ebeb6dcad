import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { repositoryFolder } from "../../scripts/places.mjs";
import { runProgram } from "../support/patch-command";

/** Every worked example of docs/coming-from.md: the command that stands there, on the text that stands there, prints what stands there. */

const folder = mkdtempSync(join(tmpdir(), "coming-from-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const page = readFileSync(join(repositoryFolder, "docs/coming-from.md"), "utf8");
const examples = page.split(/^## /m).flatMap((section) => {
  const [title = ""] = section.split("\n");
  const [text, command, printed, told] = [...section.matchAll(/^```\w+\n(.*?)^```$/gms)].map(
    ([, block]) => block ?? "",
  );
  const [, words] = /^npx pulumi-vllm (.*)$/m.exec(command ?? "") ?? [];
  return text === undefined || words === undefined || printed === undefined
    ? []
    : [{ title, text, words, printed, told }];
});

test("there is one for each kind of text, and one for the way back", () => {
  expect(examples.map(({ title }) => title)).toEqual([
    "Coming from a shell script",
    "Coming from docker run",
    "Coming from a systemd unit",
    "Coming from compose",
    "And back: the line to try by hand",
  ]);
});

test.each(examples)("$title", async ({ text, words, printed, told }) => {
  const given = words.split(" ");
  writeFileSync(join(folder, given.at(-1) ?? ""), text);
  const { code, out, err } = await runProgram(given, folder);
  expect({ code, out }).toEqual({ code: 0, out: printed });
  if (told !== undefined) expect(err).toBe(told);
});
