/**
 * Finds which of many fixed texts a line holds, in one look at each character (Aho-Corasick, as one table).
 * That is what makes a log of 100 MB take about a second: patterns run only on lines that hold their own fixed text.
 */
export class AnchorIndex {
  private readonly next: Int32Array;
  private readonly found: readonly (readonly number[])[];

  constructor(anchors: readonly string[]) {
    const children: Map<number, number>[] = [new Map()];
    const own: number[][] = [[]];
    anchors.forEach((anchor, id) => {
      let state = 0;
      for (const code of codesOf(anchor)) {
        const known = children[state]?.get(code);
        const target = known ?? children.length;
        if (known === undefined) {
          children[state]?.set(code, target);
          children.push(new Map());
          own.push([]);
        }
        state = target;
      }
      own[state]?.push(id);
    });
    this.next = new Int32Array(children.length * WIDTH);
    this.found = completed(children, own, this.next);
  }

  /** Adds the numbers of the anchors found in text[start, end) to `into`. Colour codes between characters do not count. */
  collect(text: string, start: number, end: number, into: Set<number>): void {
    const { next, found } = this;
    let state = 0;
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === ESCAPE) {
        while (at < end && !isLetter(text.charCodeAt(at))) at++;
        continue;
      }
      state = code < WIDTH ? (next[state * WIDTH + code] ?? 0) : 0;
      if (state === 0) continue;
      const ids = found[state];
      if (ids !== undefined && ids.length > 0) for (const id of ids) into.add(id);
    }
  }
}

const WIDTH = 128;
const ESCAPE = 27;
/** Longer anchors would make the table larger and find nothing more. */
const LONGEST = 24;

/** Fills the table breadth first: a missing step goes where the longest known suffix goes. */
function completed(
  children: readonly ReadonlyMap<number, number>[],
  own: readonly (readonly number[])[],
  next: Int32Array,
): readonly (readonly number[])[] {
  const found: (readonly number[])[] = own.map((ids) => ids);
  const suffix = new Int32Array(children.length);
  const queue: number[] = [0];
  for (const state of queue) {
    const fallback = suffix[state] ?? 0;
    if (state !== 0) {
      next.copyWithin(state * WIDTH, fallback * WIDTH, (fallback + 1) * WIDTH);
      found[state] = [...(found[state] ?? []), ...(found[fallback] ?? [])];
    }
    for (const [code, child] of children[state] ?? []) {
      suffix[child] = state === 0 ? 0 : (next[fallback * WIDTH + code] ?? 0);
      next[state * WIDTH + code] = child;
      queue.push(child);
    }
  }
  return found;
}

function codesOf(anchor: string): readonly number[] {
  return [...anchor.slice(0, LONGEST)].map((character) => character.charCodeAt(0));
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/**
 * The longest run of plain characters that every match of a pattern holds: outside of groups, classes and alternatives.
 * "" when there is none. Quotes and backslashes end a run, because JSON loggers write them differently.
 */
export function anchorOf(pattern: RegExp): string {
  const { source } = pattern;
  const runs: string[] = [];
  let run = "";
  let depth = 0;
  const finish = (): void => {
    if (run !== "") runs.push(run);
    run = "";
  };
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? "";
    if (character === "\\") {
      at++;
      const escaped = source[at] ?? "";
      if (depth === 0 && /[^\w"\\]/.test(escaped)) run += escaped;
      else finish();
    } else if (character === "[") {
      finish();
      while (at < source.length && source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
    } else if (character === "(") {
      finish();
      depth++;
    } else if (character === ")") depth--;
    else if (character === "|" && depth === 0) return "";
    else if (/[?*{]/.test(character)) {
      run = run.slice(0, -1);
      finish();
      if (character === "{") while (at < source.length && source[at] !== "}") at++;
    } else if (/[+.^$"]/.test(character)) finish();
    else if (depth === 0) run += character;
  }
  finish();
  return runs.reduce((best, one) => (one.length > best.length ? one : best), "");
}
