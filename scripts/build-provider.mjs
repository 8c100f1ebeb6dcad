import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { removeLeftovers, withLock } from "./lock.mjs";
import { nodeBinFolder, repositoryFolder } from "./places.mjs";
import { failWith, say, stream } from "./processes.mjs";

const provider = join(repositoryFolder, "provider");
const source = join(provider, "src");
const output = join(provider, "dist");
const stamp = join(repositoryFolder, "node_modules", ".pulumi-vllm-build");

/** What tsc does not carry over: the agent, its launcher, tables that are read as files. */
const DATA_FILES = new Set([".py", ".sh"]);
/** What tsc turns into another file; .json comes along where it is imported. */
const COMPILED = new Map([
  [".ts", ".js"],
  [".js", ".js"],
  [".json", ".json"],
]);

/**
 * Compiles provider/src to provider/dist when dist is not what src gives.
 * @param {{ always?: boolean }} [options]
 * @returns {Promise<boolean>} whether it was built now
 */
export function buildProvider({ always = false } = {}) {
  return withLock(`${stamp}.lock`, () => buildWhenNeeded(always));
}

/** @param {boolean} always */
async function buildWhenNeeded(always) {
  const files = await sourceFiles();
  const hash = await hashOf([
    ...files,
    join(provider, "tsconfig.json"),
    join(repositoryFolder, "tsconfig.base.json"),
  ]);
  if (!always && existsSync(output) && (await readFile(stamp, "utf8").catch(() => "")) === hash) return false;
  say("building provider");
  // Built aside: whoever runs the old dist meanwhile keeps a whole one, and a cut build leaves it as it was.
  await removeLeftovers(join(provider, "dist.part-"));
  const temporary = join(provider, `dist.part-${process.pid}`);
  try {
    const env = { ...process.env, PATH: `${nodeBinFolder}:${process.env.PATH ?? ""}` };
    const code = await stream(join(nodeBinFolder, "tsc"), ["-p", provider, "--outDir", temporary], { env });
    if (code !== 0) throw new Error("Cannot build provider: tsc failed (its lines are above)");
    for (const file of files.filter((name) => DATA_FILES.has(extname(name)))) {
      const target = join(temporary, relative(source, file));
      await mkdir(dirname(target), { recursive: true });
      await cp(file, target);
    }
    const missing = files
      .map((file) => expectedOutput(file))
      .filter((name) => !existsSync(join(temporary, name)));
    if (missing.length > 0)
      throw new Error(`Cannot build provider: nothing was made for ${missing.join(", ")}`);
    await rm(output, { recursive: true, force: true });
    await rename(temporary, output);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  await writeFile(stamp, hash);
  return true;
}

/** @returns {Promise<string[]>} absolute paths, sorted */
async function sourceFiles() {
  const names = await readdir(source, { recursive: true });
  const files = names.map((name) => join(source, name)).filter((path) => statSync(path).isFile());
  // Left by Python and its linters.
  return files.filter((file) => !/(^|\/)(__pycache__|\.[^/]*)(\/|$)/.test(relative(source, file))).sort();
}

/** @param {string} file a source file @returns {string} what stands for it in dist */
function expectedOutput(file) {
  const name = relative(source, file);
  const extension = extname(name);
  if (name.endsWith(".d.ts")) return ".";
  if (DATA_FILES.has(extension)) return name;
  const compiled = COMPILED.get(extension);
  if (compiled === undefined)
    throw new Error(`Cannot build provider: do not know what to do with src/${name}`);
  return name.slice(0, -extension.length) + compiled;
}

/** @param {readonly string[]} files */
async function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(relative(provider, file))
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await buildProvider({ always: true }).catch(failWith);
}
