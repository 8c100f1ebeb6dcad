import type { FoundLine } from "./line-finder";

/** So many lines of a kind whose last one counts are read as they come; of the rest only the last ones, at the end. */
const EAGER = 50;
const LATE = 4;

export interface LateLine {
  readonly id: number;
  readonly lineNumber: number;
  readonly raw: string;
}

interface Kept {
  readonly found: FoundLine;
  /** Among all that were kept: the states of a progress bar have one line number. */
  readonly order: number;
  /** null: still to be had from the log. */
  raw: string | null;
}

/** Keeps the last few lines of each kind instead of reading every one of a million. */
export class LateLines {
  private readonly counts = new Map<number, number>();
  private readonly lines = new Map<number, Kept[]>();
  private order = 0;

  /** false: the line must be read now. */
  keep(id: number, found: FoundLine): boolean {
    const count = (this.counts.get(id) ?? 0) + 1;
    this.counts.set(id, count);
    if (count <= EAGER) return false;
    const lines = this.lines.get(id) ?? [];
    if (lines.push({ found, order: this.order++, raw: null }) > LATE) lines.shift();
    this.lines.set(id, lines);
    return true;
  }

  /** Before more of the log comes: takes the words of what is kept. */
  settle(textOf: (found: FoundLine) => string): void {
    for (const lines of this.lines.values()) for (const line of lines) line.raw ??= textOf(line.found);
  }

  /** In the order of the log. */
  all(): readonly LateLine[] {
    return [...this.lines]
      .flatMap(([id, lines]) => lines.map((line) => ({ id, ...line })))
      .sort((one, other) => one.order - other.order)
      .map(({ id, found: { lineNumber }, raw }) => ({ id, lineNumber, raw: raw ?? "" }));
  }
}
