/** Whether a released version comes before another: by its numbers, `0.6.6.post1` counts as 0.6.6. */
export function isEarlier(version: string, other: string): boolean {
  const first = numbersOf(version);
  const second = numbersOf(other);
  for (let at = 0; at < Math.max(first.length, second.length); at += 1) {
    const difference = (first[at] ?? 0) - (second[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbersOf(version: string): readonly number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "").split(".").map(Number);
}
