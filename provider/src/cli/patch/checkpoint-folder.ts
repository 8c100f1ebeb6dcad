import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { PatchFailure, reasonOf } from "./failure";

/** The files of a checkpoint that say how it is quantized. */
const CONFIG_FILES = ["config.json", "hf_quant_config.json"] as const;

export interface CheckpointFolder {
  /** Absolute. */
  readonly path: string;
  /** Names of everything in it, sorted. */
  readonly entries: readonly string[];
  /** Texts of the config files; null: there is no such file. */
  readonly files: Readonly<Record<string, string | null>>;
}

/** Reads a checkpoint as far as a patch needs it. Fails with checkpoint-not-found, checkpoint-not-readable. */
export function readCheckpoint(given: string): CheckpointFolder {
  const path = resolve(given);
  const entries = entriesOf(path);
  const files = Object.fromEntries(
    CONFIG_FILES.map((name) => [name, entries.includes(name) ? textOf(join(path, name)) : null]),
  );
  if (Object.values(files).every((text) => text === null)) {
    throw new PatchFailure(
      "checkpoint-not-found",
      `Cannot patch ${path}: found no ${CONFIG_FILES.join(" and no ")}, need the folder of a checkpoint`,
    );
  }
  return { path, entries, files };
}

function entriesOf(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    throw new PatchFailure(
      "checkpoint-not-found",
      `Cannot patch ${path}: ${reasonOf(error)}, need the folder of a checkpoint`,
      error,
    );
  }
}

function textOf(path: string): string {
  try {
    if (!statSync(path).isFile()) throw new Error("it is no file");
    // A byte order mark is part of the text: Python's json module refuses it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    throw new PatchFailure("checkpoint-not-readable", `Cannot read ${path}: ${reasonOf(error)}`, error);
  }
}
