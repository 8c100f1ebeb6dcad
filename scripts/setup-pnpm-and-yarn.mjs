import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeLeftovers, withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";

/** What users install packages with beside npm: the newest pnpm, the yarn that its name in the registry stands for, and the newest yarn. */
const VERSIONS = { pnpm: "12.23.0", yarn: "1.22.22", yarn4: "4.18.1" };
const NAME = Object.entries(VERSIONS)
  .map((pair) => pair.join("-"))
  .join("-");
/** Both yarns are called yarn: each folder has one of them. */
const FOLDERS = {
  old: [`pnpm@${VERSIONS.pnpm}`, `yarn@${VERSIONS.yarn}`],
  new: [`@yarnpkg/cli-dist@${VERSIONS.yarn4}`],
};

/**
 * pnpm and yarn, which the tests of the package install it with, and a folder for what they download.
 * @returns {Promise<{ bin: string, yarn4Bin: string, cache: string }>} absolute paths
 */
export async function ensurePnpmAndYarn() {
  const folder = join(cacheFolder(), NAME);
  /** @param {keyof typeof FOLDERS} name */
  const binOf = (name) => join(folder, name, "node_modules", ".bin");
  const places = { bin: binOf("old"), yarn4Bin: binOf("new"), cache: join(cacheFolder(), "packages") };
  await mkdir(places.cache, { recursive: true });
  if (existsSync(folder)) return places;
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    say(`fetching ${Object.values(FOLDERS).flat().join(", ")}; usually under 10 s`);
    const aside = `${folder}.new-`;
    await removeLeftovers(aside);
    const made = `${aside}${String(process.pid)}`;
    for (const [name, wanted] of Object.entries(FOLDERS)) await install(join(made, name), wanted);
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
  });
  return places;
}

/** @param {string} folder @param {readonly string[]} wanted */
async function install(folder, wanted) {
  await mkdir(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...wanted];
  const result = await capture("npm", args, { cwd: folder, timeoutSeconds: 300 });
  if (result.code !== 0) throw new Error(`Cannot fetch ${wanted.join(", ")}:\n${lastLines(result.stderr)}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log((await ensurePnpmAndYarn().catch(failWith)).bin);
}
