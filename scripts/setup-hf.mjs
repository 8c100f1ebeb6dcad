import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withLock } from "./lock.mjs";
import { cacheFolder } from "./places.mjs";
import { capture, failWith, lastLines, say } from "./processes.mjs";
import { ensureUv } from "./setup-uv.mjs";

/** The client that comes with vLLM 0.32.0, and that provider/src/remote/agent/hf_install.py installs. */
const VERSION = "2.4.0";

/**
 * The real client of model hubs, which the tests of downloads run.
 * @returns {Promise<string>} path of the program
 */
export async function ensureHf() {
  const folder = join(cacheFolder(), `hf-${VERSION}`);
  const program = join(folder, "bin", "hf");
  // Programs of an environment hold its path: it cannot be built aside and moved.
  const complete = join(folder, "complete");
  if (existsSync(complete)) return program;
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(complete)) return;
    const uv = await ensureUv();
    say(`installing huggingface_hub ${VERSION}; usually under 10 s`);
    await rm(folder, { recursive: true, force: true });
    for (const args of [
      ["venv", "--quiet", folder],
      ["pip", "install", "--quiet", "--python", folder, `huggingface_hub==${VERSION}`],
    ]) {
      const result = await capture(uv, args, { timeoutSeconds: 600 });
      if (result.code !== 0)
        throw new Error(`Cannot install huggingface_hub ${VERSION}:\n${lastLines(result.stderr)}`);
    }
    await writeFile(complete, "");
  });
  return program;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await ensureHf().catch(failWith));
}
