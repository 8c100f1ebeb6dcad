// Runs before `npm test`, `npm run demo` and `npm run check`, also on a fresh clone: until npm ci is done there are no
// node_modules, so this file and what it imports use Node's own modules only and nothing newer than Node 20.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildProvider } from "./build-provider.mjs";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { failWith, say, stream } from "./processes.mjs";

const [major = "0"] = process.versions.node.split(".");
if (Number(major) < 20) failWith(`Cannot set up: this is Node ${process.versions.node}, need 20 or newer`);

const reason = await whyInstall();
if (reason !== undefined) {
  say(`npm ci (${reason}); usually under a minute`);
  // Errors only: npm itself may run on Node 20, and would warn of every package that wants the 24 it is about to get.
  const code = await stream("npm", ["ci", "--loglevel=error"], { cwd: repositoryFolder });
  if (code !== 0) failWith("Cannot set up: `npm ci` failed (its lines are above)");
}
// `npm run check` builds as one of its own steps, to show a broken build beside the rest.
if (!process.argv.includes("--install-only")) await buildProvider().catch(failWith);

/**
 * Compares what is installed with the lock file, package by package: `npm install` by hand counts as well.
 * @returns {Promise<string | undefined>} undefined: node_modules is as the lock file says
 */
async function whyInstall() {
  if (!existsSync(join(nodeBinFolder, "node"))) return "node_modules is missing";
  const wanted = await packagesIn(join(repositoryFolder, "package-lock.json"));
  const present = await packagesIn(join(repositoryFolder, "node_modules", ".package-lock.json"));
  for (const [path, entry] of Object.entries(wanted)) {
    const isInstalledFromRegistry = path.includes("node_modules/") && entry.link !== true;
    const found = present[path]?.version;
    // Optional packages are for other platforms as well.
    if (!isInstalledFromRegistry || (entry.optional === true && found === undefined)) continue;
    if (found !== entry.version)
      return `${path} is ${found ?? "missing"}, the lock file says ${entry.version ?? "?"}`;
  }
  return undefined;
}

/**
 * @param {string} lockFile
 * @returns {Promise<Record<string, { version?: string, link?: boolean, optional?: boolean }>>}
 */
async function packagesIn(lockFile) {
  try {
    return JSON.parse(await readFile(lockFile, "utf8")).packages;
  } catch {
    return {};
  }
}
