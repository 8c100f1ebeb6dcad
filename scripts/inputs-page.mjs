// node scripts/inputs-page.mjs [--check]: writes docs/inputs.md from the types and docstrings of the package, or says where it is not what they give.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { readDeclarations } from "./declared-properties.mjs";
import { repositoryFolder } from "./places.mjs";
import { failWith } from "./processes.mjs";

/** @typedef {import("./declared-properties.mjs").Declaration} Declaration */
/** @typedef {import("./declared-properties.mjs").Property} Property */

const page = join(repositoryFolder, "docs", "inputs.md");
const folder = join(repositoryFolder, "provider", "src", "pulumi");
const SOURCES = ["args.ts", "host-args.ts", "engine-args.ts", "server.ts"].map((name) => join(folder, name));
const INPUTS = "VllmServerArgs";
const OUTPUTS = "VllmServer";

const HEAD = `# Inputs and outputs

<!-- Written by scripts/inputs-page.mjs from the docstrings of provider/src/pulumi; npm run check compares. -->

What a change means is said with each input; \`pulumi preview\` says it for the change at hand. \`stacks/\` takes the same names from a
stack's config.
`;

/** The whole page, formatted. @returns {Promise<string>} */
export async function inputsPage() {
  const declarations = readDeclarations(SOURCES);
  /** @param {string} name @returns {Declaration} */
  const named = (name) => {
    const found = declarations.get(name);
    if (found === undefined) throw new Error(`Cannot write docs/inputs.md: found no declaration of ${name}`);
    return found;
  };
  const order = reachedFrom(named(INPUTS), declarations);
  const sections = [
    ...order.map((declaration) => section(declaration, declaration.name, declarations)),
    section(named(OUTPUTS), "Outputs", declarations),
  ];
  const text = [HEAD, ...sections].join("\n");
  return await format(text, { ...(await resolveConfig(page)), parser: "markdown" });
}

/**
 * The declaration and those its types name, each once, in the order of reading.
 * @param {Declaration} from @param {ReadonlyMap<string, Declaration>} all @returns {readonly Declaration[]}
 */
function reachedFrom(from, all) {
  const reached = new Set([from]);
  for (const { names } of reached)
    for (const name of names) {
      const found = all.get(name);
      if (found !== undefined) reached.add(found);
    }
  return [...reached];
}

/** @param {Declaration} declaration @param {string} title @param {ReadonlyMap<string, Declaration>} all @returns {string} */
function section({ text, type, properties }, title, all) {
  const lines = properties.map((property) => `- ${heading(property, all)} ${plain(property.text)}`);
  const alias = type === undefined ? [] : [`\`${type}\``, ""];
  return [`## ${title}`, "", plain(text), "", ...alias, ...lines, ""].join("\n");
}

/** @param {Property} property @param {ReadonlyMap<string, Declaration>} all @returns {string} */
function heading({ name, type, names, isRequired }, all) {
  const links = names.filter((other) => all.has(other)).map((other) => `[${other}](#${other.toLowerCase()})`);
  const types = names.includes(type) && links.length > 0 ? links : [`\`${type}\``, ...links];
  const marks = [...types, ...(isRequired ? ["required"] : [])];
  return `**\`${name}\`** (${marks.join(", ")}):`;
}

/** Without what Markdown would take for its own. @param {string} text @returns {string} */
function plain(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[*<]/g, "\\$&")))
    .join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await inputsPage().catch(failWith);
  if (!process.argv.includes("--check")) await writeFile(page, text);
  else if ((await readFile(page, "utf8").catch(() => "")) !== text)
    failWith("docs/inputs.md is not what the docstrings give: run node scripts/inputs-page.mjs");
}
