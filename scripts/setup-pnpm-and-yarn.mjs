import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeLeftovers, withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";

/** What users install packages with beside npm: the newest pnpm, and the yarn that its name in the registry stands for. */
const VERSIONS = { pnpm: "12.23.0", yarn: "1.22.22" };
const NAME = Object.entries(VERSIONS)
  .map((pair) => pair.join("-"))
  .join("-");

/**
 * pnpm and yarn, which the tests of the package install it with, and a folder for what they download.
 * @returns {Promise<{ bin: string, cache: string }>} absolute paths
 */
export async function ensurePnpmAndYarn() {
  const folder = join(cacheFolder(), NAME);
  const bin = join(folder, "node_modules", ".bin");
  const cache = join(cacheFolder(), "packages");
  await mkdir(cache, { recursive: true });
  if (existsSync(bin)) return { bin, cache };
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(bin)) return;
    const wanted = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
    say(`fetching ${wanted.join(", ")}; usually under 10 s`);
    const aside = `${folder}.new-`;
    await removeLeftovers(aside);
    const made = `${aside}${String(process.pid)}`;
    await mkdir(made);
    const args = ["install", "--prefix", made, "--ignore-scripts", "--no-audit", "--no-fund", ...wanted];
    const result = await capture("npm", args, { cwd: made, timeoutSeconds: 300 });
    if (result.code !== 0) throw new Error(`Cannot fetch ${wanted.join(", ")}:\n${lastLines(result.stderr)}`);
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
  });
  return { bin, cache };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log((await ensurePnpmAndYarn().catch(failWith)).bin);
}
