import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../provider/src/cli/commands";
import { readOptions as readDiagnose } from "../../provider/src/cli/diagnose/options";
import { readOptions as readDoctor } from "../../provider/src/cli/doctor/options";
import { readOptions as readFromCommand } from "../../provider/src/cli/from-command/options";
import { readOptions as readLogs } from "../../provider/src/cli/logs/options";
import { readOptions as readPatch } from "../../provider/src/cli/patch/options";
import { readOptions as readToCommand } from "../../provider/src/cli/to-command/options";
import { repositoryFolder } from "../../scripts/places.mjs";
import { SUITES } from "../../scripts/test-suites.mjs";
import { brokenLinks, documentedLines, documents } from "../support/documents";
import { OPERATIONS_PAGE } from "../support/operations-page";

/** What the documents tell a reader to type or to click is there. documented-commands.test.ts also runs what needs no host. */

const READERS = new Map<string, (words: readonly string[]) => { readonly problems: readonly string[] }>([
  ["diagnose", readDiagnose],
  ["doctor", readDoctor],
  ["from-command", readFromCommand],
  ["logs", readLogs],
  ["patch", readPatch],
  ["to-command", readToCommand],
]);
const { scripts }: { scripts: object } = JSON.parse(
  readFileSync(join(repositoryFolder, "package.json"), "utf8"),
);
const CHECKS = [
  ...readFileSync(join(repositoryFolder, "scripts/check.mjs"), "utf8").matchAll(/\{ ?\n? *name: "([^"]+)"/g),
].map(([, name]) => name);

/** What is wrong with a line that begins like this; "" where nothing is. */
const RULES: readonly (readonly [start: RegExp, problem: (rest: readonly string[]) => string])[] = [
  [/^npx pulumi-vllm /, ([name = "", ...words]) => problemOfProgram(name, words)],
  [/^npx vitest run /, (words) => missing(words.filter((word) => word.includes("/")))],
  [/^npm run /, ([script = "", dashes, ...names]) => problemOfScript(script, dashes, names)],
  [/^npm test ?/, ([dashes, ...names]) => problemOfScript("test", dashes, names)],
  [/^npm (ci|deprecate|install|pack|publish|start)\b/, () => ""],
  [/^node /, ([file = ""]) => missing([file])],
  [/^pulumi /, ([verb = ""]) => (PULUMI_VERBS.includes(verb) ? "" : `pulumi has no ${verb}`)],
  // Of the system's.
  [/^(cd|cp|curl|cut|export|git|ssh|zcat|\$\(pulumi stack output tunnelCommand\))\b ?/, () => ""],
  [/^\$\(pulumi stack output tunnelCommand\)$/, () => ""],
];
/**
 * What docs/operations.md alone may tell a reader to type. That the page's commands are there and do what it says is seen by
 * test/hosts/operations.test.ts, which types every block of it on a machine, and fails when it has left one out.
 */
const ON_A_HOST =
  /^(?:[A-Z]+=\S|for [A-Z]+ in |done$|(?:sudo )?(?:cat|cut|df|du|find|flock|grep|ls|nvidia-smi|ps|python3|rm|sed|sort|ss|stat|systemctl|tail|touch|tr|uniq|xargs -r (?:kill|ps))\b)/;
const PULUMI_VERBS = ["cancel", "config", "destroy", "login", "preview", "refresh", "stack", "state", "up"];

function problemOfProgram(name: string, words: readonly string[]): string {
  // The word that stands for any of them.
  if (name === "COMMAND" || name.startsWith("-")) return "";
  const read = READERS.get(name);
  if (read === undefined) return `there is no command ${name}`;
  const redirected = words.indexOf(">");
  const own = redirected === -1 ? words : words.slice(0, redirected);
  // Named in a sentence, without what it needs.
  return own.length === 0 ? "" : read(own.map((word) => word.replaceAll("'", ""))).problems.join("; ");
}

function problemOfScript(script: string, dashes: string | undefined, names: readonly string[]): string {
  if (!Object.hasOwn(scripts, script)) return `there is no script ${script}`;
  if (dashes !== undefined && dashes !== "--") return `npm takes ${dashes} for itself`;
  const known = new Map([
    ["test", SUITES.map(({ name }) => name)],
    ["check", CHECKS],
  ]).get(script);
  return names
    .filter((name) => known?.includes(name) === false)
    .map((name) => `${script} has no ${name}`)
    .join("; ");
}

function missing(paths: readonly string[]): string {
  return paths
    .filter((path) => !existsSync(join(repositoryFolder, path)))
    .map((path) => `there is no ${path}`)
    .join("; ");
}

/** An empty variable makes it the folder above. */
function problemOnHost(line: string): string {
  return /\brm -r?f .*\$(?:\w|\{\w+\})/.test(line) && !line.includes("/dev/shm/$NAME")
    ? "rm needs variables that must not be empty"
    : "";
}

function problemOf(line: string, path: string): string {
  const rule = RULES.find(([start]) => start.test(line));
  if (rule === undefined && path === OPERATIONS_PAGE && ON_A_HOST.test(line)) return problemOnHost(line);
  if (rule === undefined) return "of no kind that is known";
  const rest = line.replace(rule[0], "").trim();
  return rule[1](rest === "" ? [] : rest.split(/\s+/));
}

const all = documents();

test("every command of the program is known here", () => {
  expect([...READERS.keys()].sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});

test.each([
  ["npx pulumi-vllm doctr gpu1", "there is no command doctr"],
  ["npx pulumi-vllm doctor gpu1 --fast", "--fast is no option"],
  ["npm run chek", "there is no script chek"],
  ["npm test -- unit units", "test has no units"],
  ["npm test unit", "npm takes unit for itself"],
  ["npm run check -- lint typos", "check has no typos"],
  ["node scripts/absent.mjs", "there is no scripts/absent.mjs"],
  ["npx vitest run --project unit test/unit/absent.test.ts", "there is no test/unit/absent.test.ts"],
  ["pulumi deploy", "pulumi has no deploy"],
  ["sudo rm -rf", "of no kind that is known"],
  ["npx pulumi-vllm logs chat --lines 5 > chat.log", ""],
])("%s: %s", (line, problem) => {
  expect(problemOf(line, "README.md")).toBe(problem);
});

test.each([
  ["pkill vllm", "of no kind that is known"],
  ["kill 1234", "of no kind that is known"],
  ['rm -rf "$STATE/$ID"', "rm needs variables that must not be empty"],
  ['rm -rf "${STATE:?}/${ID}"', "rm needs variables that must not be empty"],
  ['rm -rf "${STATE:?}/${ID:?}"', ""],
  ["npx pulumi-vllm doctr gpu1", "there is no command doctr"],
])("on a host, %s: %s", (line, problem) => {
  expect(problemOf(line, OPERATIONS_PAGE)).toBe(problem);
});

test("a link to a file or a heading that is not there is found", () => {
  const text =
    "# Inputs\n[a](#inputs) [b](#b) [c](docs/absent.md) [d](docs/states.md#drift) [e](docs/states.md#absent)\n";
  expect(brokenLinks({ path: "README.md", text })).toEqual(["#b", "docs/absent.md", "docs/states.md#absent"]);
});

describe.each(all.map((document) => [document.path, document] as const))("%s", (_, document) => {
  test("names only commands that are there", () => {
    const wrong = documentedLines(document)
      .flatMap(({ line }) => line.split(/ (?:&&|\|\|?) /))
      .map((line) => [line, problemOf(line, document.path)])
      .filter(([, problem]) => problem !== "");
    expect(wrong).toEqual([]);
  });

  test("links only to what is there", () => {
    expect(brokenLinks(document)).toEqual([]);
  });
});
