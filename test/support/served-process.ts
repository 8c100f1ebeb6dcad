import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface ServedProcess {
  /** What it said when it was ready: a line of JSON. */
  readonly said: unknown;
  close(): Promise<void>;
}

/** Runs <this folder>/<name>/serve.py on `config` in a process that ends with this one. */
export async function startServed(name: string, config: object): Promise<ServedProcess> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const configFile = join(folder, "config.json");
  writeFileSync(configFile, JSON.stringify(config));
  const child = spawn("python3", ["-B", join(import.meta.dirname, name, "serve.py"), configFile], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(() => Promise.reject(new Error(`${name}/serve.py did not start: see above`))),
  ]);
  rmSync(folder, { recursive: true });
  return {
    said: JSON.parse(String(line)),
    close: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}
