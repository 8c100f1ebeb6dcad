import { AnchorIndex, anchorOf } from "./anchors";
import { LateLines } from "./late-lines";
import { type FoundLine, LineFinder } from "./line-finder";
import { type LogLine, readJsonRecord, readLogLine } from "./log-line";
import { CONTEXT_PATTERNS, type MarkName, MARKS } from "./marks";
import { Pass, type RawLine, type Scan, type Watcher } from "./pass";
import type { CauseRule } from "./rule";
import { SURVIVED_ERRORS } from "./survived";

const EXCEPTION_ANCHORS = [
  "Error",
  "Exception",
  "Interrupt",
  "OutOfResources",
  "Unsupported:",
  "Value error, ",
  "Assertion failed, ",
] as const;

/** Of these marks the last line counts, of all others the first. */
const LAST_ONE_COUNTS: ReadonlySet<MarkName> = new Set(["finished", "progress"]);
/** So many lines that only may name an exception are read in each part of a life; a million of them tell nothing that these do not. */
const MOST_PLAIN_READS = 20_000;
/** Bytes that are looked at before the memory they take is used again. */
const PIECE_BYTES = 1024 * 1024;

/** What a log is searched for. Made once, for any number of logs. */
export class LogScanner {
  readonly watchers: readonly Watcher[];
  readonly index: AnchorIndex;
  readonly contextFrom: number;
  readonly marksFrom: number;
  readonly exceptionsFrom: number;
  readonly survivedFrom: number;
  /** By number of the text: the mark it is of, and whether the last line with it counts. */
  readonly markNames: readonly (MarkName | null)[];
  readonly isLastCounting: readonly boolean[];

  constructor(rules: readonly CauseRule[]) {
    this.watchers = rules.flatMap((rule) => rule.signs.map((sign) => ({ rule, sign })));
    this.contextFrom = this.watchers.length;
    this.marksFrom = this.contextFrom + CONTEXT_PATTERNS.length;
    this.exceptionsFrom = this.marksFrom + MARKS.length;
    this.index = new AnchorIndex([
      ...this.watchers.map(({ sign }) => anchorOf(sign.pattern)),
      ...CONTEXT_PATTERNS.map(anchorOf),
      ...MARKS.map((mark) => anchorOf(mark.pattern)),
      ...EXCEPTION_ANCHORS,
      ...SURVIVED_ERRORS.map((one) => anchorOf(one.pattern)),
    ]);
    this.survivedFrom = this.exceptionsFrom + EXCEPTION_ANCHORS.length;
    const none = Array<null>(SURVIVED_ERRORS.length + EXCEPTION_ANCHORS.length).fill(null);
    this.markNames = [...Array<null>(this.marksFrom).fill(null), ...MARKS.map(({ name }) => name), ...none];
    this.isLastCounting = this.markNames.map((name, id) =>
      name === null ? id >= this.contextFrom && id < this.marksFrom : LAST_ONE_COUNTS.has(name),
    );
  }

  begin(): LogScan {
    return new LogScan(this);
  }
}

/** One log that is read once, as it comes, in the same memory whatever its size. */
export class LogScan {
  private readonly pass = new Pass();
  private readonly late = new LateLines();
  private readonly finder: LineFinder;
  private plainReads = 0;
  private last: { readonly lineNumber: number; readonly raw: string } | null = null;

  constructor(private readonly scanner: LogScanner) {
    this.finder = new LineFinder(scanner.index, (found, ids) => {
      this.take(found, ids);
    });
  }

  /** UTF-8, cut anywhere. */
  feed(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      this.finder.feed(piece.subarray(at, at + PIECE_BYTES));
      this.settle();
    }
  }

  /** What was found, when the log is over. */
  end(): Scan {
    this.finder.end();
    this.settle();
    for (const { id, lineNumber, raw } of this.late.all())
      this.read({ raw, lineNumber, before: () => "" }, [id]);
    const { last } = this;
    const tail = last === null ? undefined : linesOf(last.raw).at(-1);
    return this.pass.result(
      tail === undefined || last === null ? null : { line: tail, lineNumber: last.lineNumber },
    );
  }

  /** Before the words of what was looked at are gone. */
  private settle(): void {
    const { finder, late } = this;
    late.settle((found) => finder.textOf(found));
    const { lastLine } = finder;
    if (lastLine !== null) this.last = { lineNumber: lastLine.lineNumber, raw: finder.textOf(lastLine) };
  }

  private take(found: FoundLine, ids: readonly number[]): void {
    const { late, finder } = this;
    const { isLastCounting } = this.scanner;
    let open = ids;
    for (const id of ids) {
      if (isLastCounting[id] === true && late.keep(id, found)) open = open.filter((one) => one !== id);
    }
    if (open.length === 0 || this.isSettled(open)) return;
    const { lineNumber } = found;
    this.read({ raw: finder.textOf(found), lineNumber, before: () => finder.before(found) }, open);
  }

  /** Whether one more line with these texts can tell nothing new: what keeps a log of a million errors cheap. */
  private isSettled(ids: readonly number[]): boolean {
    const { pass } = this;
    const { watchers, markNames, isLastCounting, exceptionsFrom } = this.scanner;
    let isKnown = false;
    let isPlain = false;
    for (const id of ids) {
      const sign = watchers[id]?.sign;
      if (id >= exceptionsFrom) isPlain = true;
      else if (sign === undefined) {
        const mark = markNames[id] ?? null;
        if (mark === null || isLastCounting[id] === true || !pass.hasMark(mark)) return false;
      } else {
        const settled = pass.settled(sign);
        if (settled === null) return false;
        isKnown ||= settled === "seen" && sign.weight !== "hint";
      }
    }
    if (isKnown || !isPlain || pass.hasEnoughExceptions()) return true;
    return this.plainReads++ >= MOST_PLAIN_READS;
  }

  private read(seen: RawLine, unsorted: readonly number[]): void {
    const { scanner, pass } = this;
    const ids = [...unsorted].sort((one, other) => one - other);
    for (const line of linesOf(seen.raw)) {
      pass.enter(line, seen.lineNumber);
      // The harm first: a mark tells the phase of what comes after it, on other lines.
      let isKnown = false;
      for (const id of ids) {
        if (id < scanner.contextFrom) {
          const watcher = scanner.watchers[id];
          if (watcher !== undefined) isKnown = pass.look(watcher, line, seen) || isKnown;
        } else if (id < scanner.marksFrom)
          pass.note(CONTEXT_PATTERNS[id - scanner.contextFrom], line, seen.lineNumber);
        else if (id < scanner.exceptionsFrom) this.mark(id, line, seen.lineNumber);
        else if (id < scanner.survivedFrom && !isKnown) pass.exception(line, seen);
      }
    }
  }

  private mark(id: number, line: LogLine, lineNumber: number): void {
    const mark = MARKS[id - this.scanner.marksFrom];
    if (mark?.pattern.test(line.text) !== true) return;
    if (!LAST_ONE_COUNTS.has(mark.name) && !this.pass.hasMark(mark.name)) this.plainReads = 0;
    this.pass.mark(mark.name, line, lineNumber);
  }
}

function linesOf(raw: string): readonly LogLine[] {
  return readJsonRecord(raw) ?? [readLogLine(raw)];
}
