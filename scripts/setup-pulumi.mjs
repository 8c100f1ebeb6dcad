import { existsSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildFromModuleProxy } from "./build-pulumi.mjs";
import { removeLeftovers, withLock } from "./lock.mjs";
import { cacheFolder, repositoryFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";
import { addDynamicProvider, DYNAMIC_PROVIDER, LANGUAGE_HOST, PULUMI_VERSION } from "./pulumi-parts.mjs";

/** Seconds the official installer may take: a download of about 150 MB. */
const INSTALLER_SECONDS = 300;

/**
 * A Pulumi CLI that can run Node programs with dynamic resources. In this order: on PATH, in the cache, the official
 * installer, a build from the Go module proxy. Progress goes to stderr.
 * @returns {Promise<string>} the folder that holds pulumi, its Node language host and the dynamic provider
 */
export async function ensurePulumi() {
  const onPath = await findOnPath();
  if (onPath.folder !== undefined) return onPath.folder;
  const root = join(cacheFolder(), `pulumi-${PULUMI_VERSION}`);
  const bin = join(root, "bin");
  if ((await whatIsWrong(bin)) === undefined) return bin;
  return withLock(`${root}.lock`, async () => {
    const inCache = await whatIsWrong(bin);
    if (inCache === undefined) return bin;
    await installPackages();
    await removeLeftovers(`${root}.part-`);
    const attempts = [`pulumi on PATH: ${onPath.problem}`, `cached copy: ${inCache}`];
    for (const way of [installOfficially, buildFromModuleProxy]) {
      // Made aside and moved into place, so a cut run leaves nothing that looks finished.
      const temporary = `${root}.part-${String(process.pid)}`;
      try {
        await mkdir(join(temporary, "bin"), { recursive: true });
        await way(temporary);
        await addDynamicProvider(join(temporary, "bin"));
        const problem = await whatIsWrong(join(temporary, "bin"));
        if (problem !== undefined) throw new Error(`ended well, but ${problem}`);
        await rm(root, { recursive: true, force: true });
        await rename(temporary, root);
        return bin;
      } catch (error) {
        attempts.push(`${way.title}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
    }
    const list = attempts.map((line) => `  - ${line.replaceAll("\n", "\n    ")}`).join("\n");
    throw new Error(`Cannot set up the Pulumi CLI, need ${PULUMI_VERSION} or newer. Tried:\n${list}`);
  });
}

/** @returns {Promise<{ folder?: string, problem: string }>} */
async function findOnPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const folder = folders.find((name) => name !== "" && existsSync(join(name, "pulumi")));
  if (folder === undefined) return { problem: "not there" };
  const problem = await whatIsWrong(folder, folders);
  return problem === undefined
    ? { folder, problem: "" }
    : { problem: `${join(folder, "pulumi")}: ${problem}` };
}

/**
 * @param {string} bin folder with `pulumi`
 * @param {readonly string[]} [more] folders in which its two helpers may be as well
 * @returns {Promise<string | undefined>} undefined: usable
 */
export async function whatIsWrong(bin, more = []) {
  const pulumi = join(bin, "pulumi");
  if (!existsSync(pulumi)) return "not there";
  // `pulumi version` neither needs a backend nor looks for updates.
  const version = await capture(pulumi, ["version"], { timeoutSeconds: 60 });
  const found = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version.stdout.trim());
  if (version.code !== 0 || found === null)
    return `\`pulumi version\` failed: ${lastLines(version.stderr, 2)}`;
  if (!isNewEnough(found.slice(1).map(Number)))
    return `version ${version.stdout.trim()}, need 3 >= ${PULUMI_VERSION}`;
  for (const helper of [LANGUAGE_HOST, DYNAMIC_PROVIDER]) {
    const path = [bin, ...more].map((folder) => join(folder, helper)).find((name) => existsSync(name));
    if (path === undefined) return `${helper} is not beside it`;
    // The shell takes an empty file for a program that ends well.
    if (statSync(path).size === 0) return `${path} is empty`;
    if (helper !== LANGUAGE_HOST) continue;
    const start = await capture(path, ["-h"], { timeoutSeconds: 30 });
    // Its exit code differs between versions, and half a file that is ended by a signal has none.
    if (!/usage/i.test(start.stdout + start.stderr))
      return `${path} does not start: ${lastLines(start.stderr, 2)}`;
  }
  return undefined;
}

/** Both ways need parts of the npm package @pulumi/pulumi; on a fresh clone there is none yet. */
async function installPackages() {
  if (existsSync(join(repositoryFolder, "node_modules", "@pulumi", "pulumi"))) return;
  const program = join(repositoryFolder, "scripts", "ensure-ready.mjs");
  const result = await capture(process.execPath, [program, "--install-only"], { show: true });
  if (result.code !== 0)
    throw new Error("Cannot set up the Pulumi CLI: its npm package is not installed (see above)");
}

/** @param {readonly number[]} version */
function isNewEnough(version) {
  const wanted = PULUMI_VERSION.split(".").map(Number);
  // A next major may drop what dynamic providers rely on.
  if (version[0] !== wanted[0]) return false;
  for (const [index, need] of wanted.entries()) {
    const have = version[index] ?? 0;
    if (have !== need) return have > need;
  }
  return true;
}

/** @param {string} root */
async function installOfficially(root) {
  say(
    `Pulumi CLI ${PULUMI_VERSION}: official installer (a download of about 150 MB; offline it fails in seconds)`,
  );
  // In a process of its own, because the API has no time limit.
  const program = join(repositoryFolder, "scripts", "install-pulumi-officially.mjs");
  const result = await capture(process.execPath, [program, root], { timeoutSeconds: INSTALLER_SECONDS });
  if (result.code !== 0) throw new Error(lastLines(result.stderr, 2));
}
installOfficially.title = "official installer";

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const bin = await ensurePulumi().catch(failWith);
  console.log(bin);
}
