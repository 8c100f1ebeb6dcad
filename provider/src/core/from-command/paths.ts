import { type GivenWord, isKnown, withText } from "./given-word";
import type { Launch, Mount } from "./launch";
import type { Notes } from "./note";

/**
 * A path as an input holds it: of the host, `~/` for the home folder, no slash at its end. Tells what is not plain about it.
 * @param inputPath where the path becomes an input.
 * @returns null: nobody can know it from the text.
 */
export function hostPathOf(word: GivenWord, inputPath: string, launch: Launch, notes: Notes): string | null {
  if (!isKnown(word)) {
    notes.addUnknown(inputPath, word.text);
    return null;
  }
  const path = plainPath(word.text);
  if (launch.container !== null)
    return inContainer(withText(word, path), inputPath, launch.container.mounts, notes);
  tellRelative(path, inputPath, notes);
  return path;
}

/** The same place, as inputs write it. */
export function plainPath(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}

export function isRelative(path: string): boolean {
  return !/^[/~]/.test(path) && !/^[a-z][a-z0-9+.-]*:\/\//.test(path);
}

/** `org/name`: of a hub, though a folder can have such a name too. */
export function isRepository(text: string): boolean {
  return /^[\w-][\w.-]*\/[\w.-]+$/.test(text);
}

function tellRelative(path: string, inputPath: string, notes: Notes): void {
  if (isRelative(path))
    notes.add("relative-path", inputPath, "was relative to the folder the command ran in");
}

function inContainer(
  word: GivenWord,
  inputPath: string,
  mounts: readonly Mount[],
  notes: Notes,
): string | null {
  const path = word.text;
  const mapped = throughMounts(path, mounts);
  if (mapped === null) {
    notes.add("unmapped-path", inputPath, "a path inside the container, lost with it");
    tellRelative(path, inputPath, notes);
    return path;
  }
  if (!isKnown(mapped)) {
    notes.addUnknown(inputPath, mapped.text);
    return null;
  }
  notes.add("mount", inputPath, `${path} in the container`);
  tellRelative(mapped.text, inputPath, notes);
  return mapped.text;
}

/** The path on the host, by the mount whose target is longest; null: no mount holds it. */
export function throughMounts(path: string, mounts: readonly Mount[]): GivenWord | null {
  const holding = mounts.filter(({ target }) => {
    const folder = plainPath(target);
    return folder === "/" || path === folder || path.startsWith(`${folder}/`);
  });
  const [best] = holding.sort((first, second) => second.target.length - first.target.length);
  if (best === undefined) return null;
  const folder = plainPath(best.target);
  const rest = folder === "/" ? path : path.slice(folder.length);
  return withText(best.source, plainPath(`${plainPath(best.source.text)}${rest}`));
}
