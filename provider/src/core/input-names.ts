/** The known name that was probably meant: another spelling (snake, kebab, camel) first, then one few typing slips away. */
export function nearestName(given: string, known: Iterable<string>): string | null {
  const limit = Math.max(2, Math.floor(given.length / 4));
  let nearest: string | null = null;
  let nearestDistance = limit + 1;
  for (const name of known) {
    const distance = isBeginning(given, name) ? 1 : editDistance(folded(given), folded(name));
    if (distance < nearestDistance && distance < name.length) {
      nearest = name;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** `env`, `exe`: a name cut short. */
function isBeginning(given: string, name: string): boolean {
  return given.length >= 3 && given.length < name.length && folded(name).startsWith(folded(given));
}

/** `maxModelLen`, `max_model_len`, `--max-model-len` -> `max-model-len`. */
export function kebabCase(name: string): string {
  const dashed = name.replace(/^-+/, "").replace(/([a-z0-9])([A-Z])/g, "$1-$2");
  return dashed.replace(/_+/g, "-").toLowerCase();
}

/** The same name in another spelling. */
export function isSameName(first: string, second: string): boolean {
  return folded(first) === folded(second);
}

function folded(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}

/** Levenshtein distance: insertions, deletions and replacements of one character. */
function editDistance(first: string, second: string): number {
  let previous = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let row = 1; row <= first.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= second.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (first[row - 1] === second[column - 1] ? 0 : 1);
      const inserted = (current[column - 1] ?? 0) + 1;
      const deleted = (previous[column] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, deleted));
    }
    previous = current;
  }
  return previous[second.length] ?? 0;
}
