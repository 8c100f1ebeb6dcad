import {
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { CheckpointFolder } from "./checkpoint-folder";
import { PatchFailure, reasonOf } from "./failure";

export interface WrittenOverlay {
  /** Absolute. */
  readonly path: string;
  readonly files: readonly string[];
  readonly links: number;
}

/** Whether a folder may be written: empty or not there, and not in the checkpoint. Fails with output-*. */
export function checkOutput(given: string, checkpoint: string): void {
  const out = realPath(given);
  const inside = relative(realpathSync(checkpoint), out);
  if (inside === "" || !(inside === ".." || inside.startsWith(`..${sep}`))) {
    throw new PatchFailure(
      "output-inside-checkpoint",
      `Cannot write ${out}: it is in the checkpoint, which is never written, need a folder outside ${checkpoint}`,
    );
  }
  const found = whatStands(out);
  if (found !== null) {
    throw new PatchFailure(
      "output-not-empty",
      `Cannot write ${out}: found ${found}, need an empty folder or none`,
    );
  }
}

/** Absolute links to everything in the checkpoint, and the patched files; whole or not at all. Fails with output-not-writable. */
export function writeOverlay(
  given: string,
  checkpoint: CheckpointFolder,
  files: Readonly<Record<string, string>>,
): WrittenOverlay {
  const out = realPath(given);
  const aside = join(dirname(out), `.${basename(out)}.part-${String(process.pid)}`);
  const links = checkpoint.entries.filter((name) => !Object.hasOwn(files, name));
  let made: string | undefined;
  try {
    made = mkdirSync(dirname(out), { recursive: true });
    mkdirSync(aside);
    for (const name of links) symlinkSync(join(checkpoint.path, name), join(aside, name));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(aside, name), text, { flag: "wx" });
    // Takes the place of an empty folder too.
    renameSync(aside, out);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
    throw notWritable(out, error);
  }
  return { path: out, files: Object.keys(files), links: links.length };
}

/** What is in the way; null: nothing. */
function whatStands(path: string): string | null {
  try {
    if (!lstatSync(path).isDirectory()) return "something that is no folder";
    const [first] = readdirSync(path);
    return first === undefined ? null : `${first} in it`;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw notWritable(path, error);
  }
}

function notWritable(path: string, error: unknown): PatchFailure {
  return new PatchFailure("output-not-writable", `Cannot write ${path}: ${reasonOf(error)}`, error);
}

/** Absolute, without links in what of it is there. */
function realPath(given: string): string {
  const path = resolve(given);
  const missing: string[] = [];
  for (let there = path; ; there = dirname(there)) {
    try {
      return join(realpathSync(there), ...missing);
    } catch {
      if (dirname(there) === there) return path;
      missing.unshift(basename(there));
    }
  }
}
