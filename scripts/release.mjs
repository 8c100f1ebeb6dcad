// node scripts/release.mjs VERSION [--dry-run]: writes a version into every file that names it and into CHANGELOG.md. --dry-run: in a copy,
// with `npm publish --dry-run` at its end; VERSION may be left out. --guard: whether what is about to be published may be; npm asks before it publishes.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repositoryFolder } from "./places.mjs";
import { capture, failWith, lastLines } from "./processes.mjs";
import { checkVersion, notesOf, pendingVersion, releasedChangelog, withVersion } from "./release-texts.mjs";

const MANIFEST = "provider/package.json";
const CHANGELOG = "CHANGELOG.md";
/** Files that name the version of the package. */
const NAMING = [
  "package-lock.json",
  "stacks/package.json",
  "examples/*/package.json",
  "examples/*/README.md",
];
/** What `npm publish` reads. */
const PUBLISHED = ["bin", "dist", "README.md", "LICENSE"];

/** @param {string} folder @returns {Promise<string>} */
async function presentVersion(folder) {
  return JSON.parse(await readFile(join(folder, MANIFEST), "utf8")).version;
}

/** @param {string} folder @param {string} version @returns {Promise<readonly string[]>} what was written */
async function writeVersion(folder, version) {
  const present = await presentVersion(folder);
  checkVersion(version, present);
  const day = new Date().toISOString().slice(0, 10);
  const changelog = await readFile(join(folder, CHANGELOG), "utf8");
  /** @type {Map<string, string>} */
  const texts = new Map([[CHANGELOG, releasedChangelog(changelog, version, day)]]);
  for (const path of [MANIFEST, ...(await namingFiles())])
    texts.set(path, withVersion(await readFile(join(folder, path), "utf8"), present, version));
  for (const [path, text] of texts) await writeFile(join(folder, path), text);
  return [...texts.keys()];
}

/** @returns {Promise<readonly string[]>} */
async function namingFiles() {
  const listed = await capture("git", ["ls-files", ...NAMING], { cwd: repositoryFolder });
  if (listed.code !== 0) throw new Error(`Cannot list files: ${lastLines(listed.stderr)}`);
  return listed.stdout.split("\n").filter((path) => path !== "");
}

/** What is published must be told of. @param {string} folder */
async function guard(folder) {
  const version = await presentVersion(folder);
  if (notesOf(await readFile(join(folder, CHANGELOG), "utf8"), version) === null)
    throw new Error(
      `Cannot publish ${version}: CHANGELOG.md has no section of it, need "## [${version}] - YYYY-MM-DD": node scripts/release.mjs VERSION`,
    );
}

/** @param {string} version @returns {Promise<string>} what would be published, in words */
async function dryRun(version) {
  const copy = await mkdtemp(join(tmpdir(), "pulumi-vllm-release-"));
  try {
    const files = [MANIFEST, CHANGELOG, ...(await namingFiles())];
    for (const path of [...files, ...PUBLISHED.map((name) => `provider/${name}`)]) {
      await mkdir(dirname(join(copy, path)), { recursive: true });
      await cp(join(repositoryFolder, path), join(copy, path), { recursive: true });
    }
    await writeVersion(copy, version);
    await guard(copy);
    const words = ["publish", "--dry-run", "--ignore-scripts", "--json", "--tag", tagOf(version)];
    const ran = await capture("npm", words, { cwd: join(copy, "provider"), timeoutSeconds: 120 });
    if (ran.code !== 0) throw new Error(`Cannot publish ${version}:\n${lastLines(ran.stderr, 10)}`);
    const told = JSON.parse(ran.stdout);
    const { id, unpackedSize, entryCount } = told["pulumi-vllm"] ?? told;
    return `${id}: ${String(entryCount)} files, ${String(unpackedSize)} bytes unpacked, tag ${tagOf(version)}; nothing was published`;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** What `npm install pulumi-vllm` gives must be a release. @param {string} version @returns {string} */
function tagOf(version) {
  return version.includes("-") ? "next" : "latest";
}

const words = process.argv.slice(2);
const [given] = words.filter((word) => !word.startsWith("--"));
try {
  if (words.includes("--guard")) await guard(repositoryFolder);
  else if (words.includes("--dry-run")) {
    const changelog = await readFile(join(repositoryFolder, CHANGELOG), "utf8");
    const version = given ?? pendingVersion(changelog, await presentVersion(repositoryFolder));
    console.log(version === null ? "nothing is unreleased" : await dryRun(version));
  } else if (given === undefined)
    throw new Error("Cannot release: need a version, node scripts/release.mjs VERSION");
  else console.log(`${given} is in ${(await writeVersion(repositoryFolder, given)).join(", ")}`);
} catch (error) {
  failWith(error);
}
