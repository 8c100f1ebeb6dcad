import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repositoryFolder } from "../../scripts/places.mjs";

/** One Markdown file of the repository, as a reader of it sees it. */
export interface Document {
  /** From the repository's folder. */
  readonly path: string;
  readonly text: string;
}

/** A line that a reader would type into a shell. */
export interface DocumentedLine {
  readonly document: string;
  readonly line: string;
}

/** All that git knows or would add. */
export function documents(): readonly Document[] {
  const words = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  const listed = execFileSync("git", words, { cwd: repositoryFolder, encoding: "utf8" });
  return listed
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(repositoryFolder, path)))
    .map((path) => ({ path, text: readFileSync(join(repositoryFolder, path), "utf8") }));
}

/** What a reader would type: the lines of blocks that are marked as a shell's, without comments, and commands in a sentence, in backticks. */
export function documentedLines(document: Document): readonly DocumentedLine[] {
  const { path, text } = document;
  const ofBlocks = blocksIn(text, "sh").flatMap(linesOf);
  const ofSentences = [...withoutBlocks(text).matchAll(/`((?:npx|npm|node|zcat) [^`]+)`/g)].map(
    ([, line = ""]) => line,
  );
  return [...ofBlocks, ...ofSentences].map((line) => ({ document: path, line }));
}

/** The blocks that are marked as of this language, in order. */
export function blocksIn(text: string, language: string): readonly string[] {
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].map(([, block = ""]) => block);
}

/** Blocks of one command with the text that it prints, which follows. */
export function printedBlocks({ path, text }: Document): readonly (DocumentedLine & { printed: string })[] {
  return [...text.matchAll(/^```sh\n((?:(?!```)[^\n]*\n)*)```\n\n```text\n(.*?)^```$/gms)].flatMap(
    ([, block = "", printed = ""]) => {
      const [line, ...others] = linesOf(block);
      return line === undefined || others.length > 0 ? [] : [{ document: path, line, printed }];
    },
  );
}

function linesOf(block: string): readonly string[] {
  const lines = block.replaceAll("\\\n", " ").split("\n");
  return lines.map((line) => line.replace(/(^|\s)#.*$/, "").trim()).filter((line) => line !== "");
}

/** Links that lead nowhere: a file that is not there, or a heading that the file does not have. */
export function brokenLinks({ path, text }: Document): readonly string[] {
  const targets = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere({ path, text }, target));
}

function leadsSomewhere(from: Document, target: string): boolean {
  const [file = "", heading] = target.split("#");
  const path = join(repositoryFolder, dirname(from.path), file);
  if (file !== "" && !existsSync(path)) return false;
  if (heading === undefined) return true;
  return headings(file === "" ? from.text : readFileSync(path, "utf8")).includes(heading);
}

/** What a link to each heading says, by the rules of GitHub. */
function headings(text: string): readonly string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutBlocks(text: string): string {
  return text.replace(/^```.*?^```$/gms, "");
}
