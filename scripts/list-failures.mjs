// node scripts/list-failures.mjs: writes the list of causes in docs/failures.md from the table that diagnosis uses. Needs a build.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { repositoryFolder } from "./places.mjs";

const BEGIN = "<!-- causes: written by scripts/list-failures.mjs -->";
const END = "<!-- end of causes -->";

/**
 * The document with its list as the facts have it.
 * @param {string} document @param {Readonly<Record<string, { readonly meaning: string, readonly change: string }>>} facts @returns {string}
 */
export function withCauses(document, facts) {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`Cannot list causes: need ${BEGIN} and ${END}`);
  const lines = Object.entries(facts).map(
    ([code, { meaning, change }]) => `- \`${code}\`: ${meaning}. Change: ${change}`,
  );
  return `${before}${BEGIN}\n\n${lines.map(plain).join("\n")}\n\n${END}${after}`;
}

/** Without what Markdown would take for its own. @param {string} text @returns {string} */
function plain(text) {
  return text.replace(/(?<!`)([*<])/g, "\\$1");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(repositoryFolder, "docs", "failures.md");
  const facts = createRequire(import.meta.url)("../provider/dist/core/diagnose/cause-facts.js");
  await writeFile(path, withCauses(await readFile(path, "utf8"), facts.CAUSE_FACTS));
}
