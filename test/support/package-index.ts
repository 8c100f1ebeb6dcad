import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

const readySchema = z.object({ url: z.string() });

export interface PackageIndex {
  /** For vllm.indexUrl, without the login. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a package index of `config` (package-index/serve.py) in a process that ends with this one. */
export async function startPackageIndex(config: object): Promise<PackageIndex> {
  const folder = mkdtempSync(join(tmpdir(), "package-index-"));
  const configFile = join(folder, "config.json");
  writeFileSync(configFile, JSON.stringify(config));
  const child = spawn("python3", ["-B", join(import.meta.dirname, "package-index", "serve.py"), configFile], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(() => Promise.reject(new Error("the package index did not start: see above"))),
  ]);
  rmSync(folder, { recursive: true });
  return {
    url: readySchema.parse(JSON.parse(String(line))).url,
    close: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}
