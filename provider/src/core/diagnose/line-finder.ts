import { type AnchorIndex, ESCAPE, NEWLINE, RETURN, STOP } from "./anchors";

/** A line that holds one of the texts. Its words can be had until more of the log comes. */
export interface FoundLine {
  /** Counted from 1. */
  readonly lineNumber: number;
  /** Place of its first byte in what is kept of the log. */
  readonly start: number;
  /** Behind the last byte. */
  readonly end: number;
}

/** How many characters before a line can be looked at. */
const BEFORE = 1000;
/** Those as UTF-8, at most: three bytes for each half of a character, and what is left of one that is cut. */
const BEFORE_BYTES = 3 * BEFORE + 3;
/** Longer lines are taken apart here, so that a log without an end of line takes no more memory than any other. */
const LONGEST_LINE_BYTES = 64 * 1024;
const FIRST_ROOM = 64 * 1024;

/**
 * Reads a log as it comes, in pieces of any size, and calls `onLine` for every line that holds one of the texts of `index`, with their
 * numbers. Colour codes between characters do not count. Each state of a progress bar, which overwrites its line with \r, is a line with
 * the number of the line it is in. Keeps the line that is not whole yet and what stands before it, and no more.
 */
export class LineFinder {
  private kept = new Uint8Array(FIRST_ROOM);
  private length = 0;
  /** Next byte to look at. */
  private at = 0;
  /** Of the line that is looked at. */
  private start = 0;
  private lineNumber = 1;
  private row = 0;
  private isInEscape = false;
  private hits: number[] = [];
  private lastStart = 0;
  private lastEnd = 0;
  private lastNumber = 0;
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(
    private readonly index: AnchorIndex,
    private readonly onLine: (line: FoundLine, ids: readonly number[]) => void,
  ) {}

  /** UTF-8, cut anywhere. */
  feed(piece: Uint8Array): void {
    this.keep(piece);
    this.lastNumber = 0;
    this.look(false);
  }

  /** The log is over: its last line may have no end. */
  end(): void {
    this.look(true);
  }

  /** The last line of the latest piece that is not empty; null: all are. */
  get lastLine(): FoundLine | null {
    const { lastNumber: lineNumber, lastStart: start, lastEnd: end } = this;
    return lineNumber === 0 ? null : { lineNumber, start, end };
  }

  textOf({ start, end }: FoundLine): string {
    return this.decoder.decode(this.kept.subarray(start, end));
  }

  /** Up to 1000 characters of what stands before a line. */
  before({ start }: FoundLine): string {
    return this.decoder.decode(this.kept.subarray(Math.max(0, start - BEFORE_BYTES), start)).slice(-BEFORE);
  }

  /** What was looked at makes room for what comes. */
  private keep(piece: Uint8Array): void {
    const wanted = this.length + piece.length;
    if (wanted > this.kept.length) {
      const from = Math.max(0, this.start - BEFORE_BYTES);
      const room = Math.max(FIRST_ROOM, 2 * (wanted - from));
      const old = this.kept;
      if (room > old.length) this.kept = new Uint8Array(room);
      if (room > old.length) this.kept.set(old.subarray(from, this.length));
      else old.copyWithin(0, from, this.length);
      this.length -= from;
      this.at -= from;
      this.start -= from;
    }
    this.kept.set(piece, this.length);
    this.length += piece.length;
  }

  private look(isOver: boolean): void {
    while (this.at < this.length) {
      const longest = this.start + LONGEST_LINE_BYTES;
      if (this.isInEscape) this.passEscape(Math.min(this.length, longest));
      else this.lookTo(Math.min(this.length, longest));
      if (this.at === longest) this.finishLine(this.at - this.cutCharacterBytes(), 0);
      else if (this.at < this.length && !this.isInEscape && !this.passStop(isOver)) return;
    }
    if (isOver) this.finishLine(this.length, 0);
  }

  /** The one loop that sees every byte. Stops before the end of a line and before a colour code. */
  private lookTo(end: number): void {
    const { kept, index, hits } = this;
    const { columns, next } = index;
    let { at, row } = this;
    for (; at < end; at++) {
      const step = next[row + (columns[kept[at] ?? 0] ?? 0)] ?? 0;
      if (step >= 0) row = step;
      else if (step === STOP) break;
      else {
        row = -1 - step;
        for (const id of index.foundAt(step)) if (!hits.includes(id)) hits.push(id);
      }
    }
    this.at = at;
    this.row = row;
  }

  /** A colour code ends with a letter; one that is no such code ends with its line. */
  private passEscape(end: number): void {
    for (; this.at < end; this.at++) {
      const code = this.kept[this.at] ?? 0;
      const isLast = isLetter(code);
      if (!isLast && code !== NEWLINE && code !== RETURN) continue;
      if (isLast) this.at++;
      this.isInEscape = false;
      return;
    }
  }

  /** false: what it is depends on what comes. */
  private passStop(isOver: boolean): boolean {
    const code = this.kept[this.at];
    if (code === ESCAPE) {
      this.isInEscape = true;
      this.at++;
    } else if (code === NEWLINE) {
      this.finishLine(this.at, 1);
      this.lineNumber++;
    } else if (code === RETURN) {
      if (this.at + 1 === this.length && !isOver) return false;
      if (this.kept[this.at + 1] === NEWLINE && this.at + 1 < this.length) {
        this.at++;
        this.row = 0;
      } else this.finishLine(this.at, 1);
    }
    return true;
  }

  /** @param gap bytes between this line and the next one */
  private finishLine(end: number, gap: number): void {
    const { start, hits, lineNumber } = this;
    const isEmpty = end === start || (end === start + 1 && this.kept[start] === RETURN);
    if (!isEmpty) {
      this.lastStart = start;
      this.lastEnd = end;
      this.lastNumber = lineNumber;
    }
    if (hits.length > 0) {
      this.onLine({ lineNumber, start, end }, hits);
      this.hits = [];
    }
    this.row = 0;
    this.start = end + gap;
    this.at = Math.max(this.at, this.start);
  }

  /** How many bytes of a character that goes on behind `at` stand before it. */
  private cutCharacterBytes(): number {
    for (let bytes = 1; bytes <= 3; bytes++) {
      const code = this.kept[this.at - bytes] ?? 0;
      if (code < 0x80) return 0;
      if (code >= 0xc0) return bytes < (code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2) ? bytes : 0;
    }
    return 0;
  }
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
