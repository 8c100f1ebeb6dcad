/**
 * Finds which of many fixed texts a line holds, in one look at each byte (Aho-Corasick, as one table).
 * That is what makes a log of 100 MB take less than a second: patterns run only on lines that hold their own fixed text.
 * Texts are ASCII; a byte of anything else ends them all.
 */
export class AnchorIndex {
  /** For each byte its column in `next`: 0 for those in no text. */
  readonly columns = new Uint8Array(256);
  /**
   * For each state (the offset of its row) and column the next state; -1 less it where a text ends, STOP for the bytes that end a line or
   * begin a colour code.
   */
  readonly next: Int32Array;
  private readonly found: readonly (readonly number[])[];

  constructor(anchors: readonly string[]) {
    let columns = 1;
    for (const code of [...STOPS, ...anchors.flatMap(codesOf)]) {
      if (this.columns[code] === 0) this.columns[code] = columns++;
    }
    const children = [new Map<number, number>()];
    const own: number[][] = [[]];
    anchors.forEach((anchor, id) => {
      let state = 0;
      for (const code of codesOf(anchor)) {
        const column = this.columns[code] ?? 0;
        const known = children[state]?.get(column);
        const target = known ?? children.length;
        if (known === undefined) {
          children[state]?.set(column, target);
          children.push(new Map());
          own.push([]);
        }
        state = target;
      }
      if (state !== 0) own[state]?.push(id);
    });
    this.next = new Int32Array(children.length * WIDTH);
    this.found = completed(children, own, this.next);
    this.markEnds();
  }

  /** Numbers of the texts that end where a step led to, which was below 0 and not STOP. */
  foundAt(step: number): readonly number[] {
    return this.found[(-1 - step) / WIDTH] ?? [];
  }

  private markEnds(): void {
    for (let at = 0; at < this.next.length; at++) {
      const target = this.next[at] ?? 0;
      if ((this.found[target / WIDTH]?.length ?? 0) > 0) this.next[at] = -1 - target;
    }
    for (let row = 0; row < this.next.length; row += WIDTH) {
      for (const code of STOPS) this.next[row + (this.columns[code] ?? 0)] = STOP;
    }
  }
}

export const NEWLINE = 10;
export const RETURN = 13;
export const ESCAPE = 27;
const STOPS = [NEWLINE, RETURN, ESCAPE] as const;
export const STOP = -(2 ** 31);
/** Columns of a row: all of ASCII at most. */
const WIDTH = 128;
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
    for (const [column, child] of children[state] ?? []) {
      suffix[child] = state === 0 ? 0 : (next[fallback * WIDTH + column] ?? 0) / WIDTH;
      next[state * WIDTH + column] = child * WIDTH;
      queue.push(child);
    }
  }
  return found;
}

/** Up to the first that is not ASCII. */
function codesOf(anchor: string): readonly number[] {
  const codes = Array.from({ length: Math.min(anchor.length, LONGEST) }, (_unused, at) =>
    anchor.charCodeAt(at),
  );
  const end = codes.findIndex((code) => code >= WIDTH);
  return end === -1 ? codes : codes.slice(0, end);
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
