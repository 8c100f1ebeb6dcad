// Names and sizes of files: a file is one idea, and its name says which.
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { repositoryFolder } from "./places.mjs";
import { capture, failWith } from "./processes.mjs";

const LONGEST = 300;
const CODE = new Set([".ts", ".js", ".mjs", ".py", ".sh"]);
/** Names that fit everything say nothing. */
const EMPTY_NAMES = /^(utils?|helpers?|common|types?|managers?|services?|misc|shared|lib)$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SNAKE = /^(__[a-z]+__|[a-z0-9]+(_[a-z0-9]+)*)$/;
const KEBAB_FILES = new Set([".ts", ".js", ".mjs", ".sh"]);

// Files in work count too, ignored ones do not.
const listed = await capture("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: repositoryFolder,
});
if (listed.code !== 0) failWith(`Cannot list files: ${listed.stderr}`);
const problems = [];
for (const path of listed.stdout.split("\n").filter((line) => line !== "")) {
  const text = await readFile(join(repositoryFolder, path), "utf8").catch(() => undefined);
  // Deleted, not yet committed.
  if (text === undefined) continue;
  const extension = extname(path);
  if (!CODE.has(extension)) continue;
  for (const part of path.split("/")) {
    const [name = ""] = part.split(".");
    const words = name.split(/[-_]/);
    if (EMPTY_NAMES.test(name) || EMPTY_NAMES.test(words.at(-1) ?? "")) {
      problems.push(`${path}: "${part}" does not say what is in it`);
    }
  }
  const [name = ""] = basename(path).split(".");
  if (KEBAB_FILES.has(extension) && !KEBAB.test(name)) problems.push(`${path}: not kebab-case`);
  if (extension === ".py" && !SNAKE.test(name))
    problems.push(`${path}: not snake_case, as Python modules are`);
  const lines = text.split("\n").length - 1;
  if (lines > LONGEST) problems.push(`${path}: ${String(lines)} lines, at most ${String(LONGEST)}`);
}
if (problems.length > 0) failWith(problems.join("\n"));
