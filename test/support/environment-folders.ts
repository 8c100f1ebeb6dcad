import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

/** Folders that a machine has to be shown (HostPlan.shows) so that this program of a Python environment runs there. Debian's own Python is in the image. */
export function environmentFolders(program: string): readonly string[] {
  const bin = dirname(program);
  const words = ["-c", "import sys; print(sys.base_prefix)"];
  const python = execFileSync(join(bin, "python3"), words, { encoding: "utf8" }).trim();
  return [dirname(bin), ...(python === "/usr" ? [] : [python])];
}
