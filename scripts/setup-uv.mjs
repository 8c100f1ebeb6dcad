import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeLeftovers, withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";
import { ensurePythonEnvironments } from "./system-packages.mjs";

/** As provider/src/remote/agent/uv_tool.py fetches it for a host that has none. */
const VERSION = "0.13.9";

/**
 * The real uv, which the tests of installations run.
 * @returns {Promise<string>} path of the program
 */
export async function ensureUv() {
  const folder = join(cacheFolder(), `uv-${VERSION}`);
  const program = join(folder, "bin", "uv");
  if (existsSync(program)) return program;
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(program)) return;
    say(`fetching uv ${VERSION}; usually under 10 s`);
    await ensurePythonEnvironments("fetch uv");
    const aside = `${folder}.new-`;
    await removeLeftovers(aside);
    const made = `${aside}${String(process.pid)}`;
    const args = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", made, `uv==${VERSION}`];
    const result = await capture("python3", ["-m", "pip", "install", ...args], { timeoutSeconds: 600 });
    if (result.code !== 0) throw new Error(`Cannot fetch uv ${VERSION}:\n${lastLines(result.stderr)}`);
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
  });
  return program;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await ensureUv().catch(failWith));
}
