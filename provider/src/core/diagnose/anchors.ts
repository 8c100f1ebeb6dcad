/**
 * Finds which of many fixed texts a line holds, in one look at each character (Aho-Corasick, as one table).
 * That is what makes a log of 100 MB take about a second: patterns run only on lines that hold their own fixed text.
 */
export class AnchorIndex {
  /** For each state and character the next state, as the offset of its row. */
  private readonly next: Int32Array;
  /** 1 for states in which a text ends. */
  private readonly isEnd: Uint8Array;
  private readonly found: readonly (readonly number[])[];

  constructor(anchors: readonly string[]) {
    const children = [new Map<number, number>()];
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
      if (state !== 0) own[state]?.push(id);
    });
    this.next = new Int32Array(children.length * WIDTH);
    this.found = completed(children, own, this.next);
    this.isEnd = Uint8Array.from(this.found, (ids) => (ids.length > 0 ? 1 : 0));
  }

  /**
   * Calls `onLine` for every line of `text` that holds one of the texts, with their numbers.
   * Colour codes between characters do not count. Each state of a progress bar, which overwrites its line with \r, is a line with the
   * number of the line it is in. Returns the last line that is not empty.
   */
  forEachLine(text: string, onLine: (line: FoundLine, ids: readonly number[]) => void): FoundLine | null {
    const { next, isEnd, found } = this;
    let hits: number[] = [];
    let last: FoundLine | null = null;
    let row = 0;
    let start = 0;
    let lineNumber = 1;
    for (let at = 0; at <= text.length; at++) {
      const code = at === text.length ? NEWLINE : text.charCodeAt(at);
      if (code >= WIDTH) row = 0;
      else if (code > ESCAPE) {
        row = next[row + code] ?? 0;
        if (row !== 0 && isEnd[row >> WIDTH_BITS] === 1) {
          for (const id of found[row >> WIDTH_BITS] ?? []) if (!hits.includes(id)) hits.push(id);
        }
      } else if (code === NEWLINE || (code === RETURN && text.charCodeAt(at + 1) !== NEWLINE)) {
        if (at > start) last = { start, end: at, lineNumber };
        if (last !== null && hits.length > 0) {
          onLine(last, hits);
          hits = [];
        }
        row = 0;
        start = at + 1;
        if (code === NEWLINE) lineNumber++;
      } else if (code === ESCAPE) {
        while (at + 1 < text.length && !isLetter(text.charCodeAt(at))) at++;
      } else row = 0;
    }
    return last;
  }
}

export interface FoundLine {
  readonly start: number;
  /** Behind the last character. */
  readonly end: number;
  /** Counted from 1. */
  readonly lineNumber: number;
}

const WIDTH = 128;
const WIDTH_BITS = 7;
const NEWLINE = 10;
const RETURN = 13;
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
      suffix[child] = state === 0 ? 0 : (next[fallback * WIDTH + code] ?? 0) / WIDTH;
      next[state * WIDTH + code] = child * WIDTH;
      queue.push(child);
    }
  }
  return found;
}

function codesOf(anchor: string): readonly number[] {
  return Array.from({ length: Math.min(anchor.length, LONGEST) }, (_unused, at) => anchor.charCodeAt(at));
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/**
 * The longest run of plain characters that every match of a pattern holds: outside of groups, classes and alternatives.
 * "" when there is none. Quotes and backslashes end a run, because JSON loggers write them differently.
 */
export function anchorOf(pattern: RegExp): string {
  // A group of plain characters alone, as a named value that is always the same, is part of the run.
  const source = pattern.source.replace(/\((?:\?<\w+>|\?:)?([\w ]+)\)(?![?*{])/g, "$1");
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
