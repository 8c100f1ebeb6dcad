import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { repositoryFolder } from "../../scripts/places.mjs";

/**
 * Builds the package as it was at a commit of this repository, with the dependencies that are installed here.
 * @param folder empty or missing; gets the clone
 * @returns a node_modules folder in which pulumi-vllm is that package
 */
export function buildEarlierPackage(commit: string, folder: string): string {
  git("clone", "--quiet", "--shared", "--no-checkout", repositoryFolder, folder);
  git("-C", folder, "checkout", "--quiet", "--detach", commit);
  const packages = join(folder, "node_modules");
  mkdirSync(packages);
  const here = join(repositoryFolder, "node_modules");
  for (const name of readdirSync(here).filter((entry) => entry !== "pulumi-vllm" && !isStamp(entry)))
    symlinkSync(join(here, name), join(packages, name));
  symlinkSync(join(folder, "provider"), join(packages, "pulumi-vllm"));
  rmSync(join(folder, "provider", "dist"), { recursive: true, force: true });
  execFileSync(process.execPath, [join(folder, "scripts", "build-provider.mjs")], { stdio: "inherit" });
  return packages;
}

/** What set-up notes of this checkout: the clone has its own. */
function isStamp(entry: string): boolean {
  return entry.startsWith(".") && entry !== ".bin";
}

function git(...words: readonly string[]): void {
  execFileSync("git", words, { stdio: ["ignore", "ignore", "inherit"] });
}
