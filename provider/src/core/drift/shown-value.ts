import { shownPair } from "../diff-values";
import { formatPath, isSecretPath, pathsOverlap, type InputPath } from "../input-path";
import type { JsonValue } from "../json";
import type { SecretMarks } from "../secret-marks";

/** Whether a value at this place must not be shown, by its name or because the program says so. */
export function isHiddenAt(path: InputPath, marks: SecretMarks): boolean {
  return isSecretPath(path) || marks.some((mark) => pathsOverlap(mark, formatPath(path)));
}

/** In place of a value that is not told. Inputs of a state can hold it, and must never become inputs of a program. */
export function untold(hash: string | null = null): string {
  return hash === null ? "(on the host)" : `(on the host, sha256 ${hash})`;
}

const UNTOLD = /^\(on the host(?:, sha256 [0-9a-f]+)?\)$/;

/** Paths at which a value stands that only said that another one is on the host: `ignoreChanges` takes it for the program's. */
export function untoldIn(value: unknown, path: InputPath = []): readonly string[] {
  if (typeof value === "string") return UNTOLD.test(value) ? [formatPath(path)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => untoldIn(inner, [...path, name]));
}

/** found and wanted as words; the difference is in both. */
export function foundAndWanted(
  found: JsonValue | undefined,
  wanted: JsonValue | undefined,
): { readonly found: string; readonly wanted: string } {
  const { from, to } = shownPair(found, wanted);
  return { found: from, wanted: to };
}
