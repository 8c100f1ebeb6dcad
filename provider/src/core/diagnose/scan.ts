import { AnchorIndex, anchorOf, type FoundLine } from "./anchors";
import { type LogLine, readJsonRecord, readLogLine } from "./log-line";
import { CONTEXT_PATTERNS, type MarkName, MARKS } from "./marks";
import { Pass, type Scan, type Watcher } from "./pass";
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
/** So many lines of a kind whose last one counts are read as they come; of the rest only the last ones, at the end. */
const EAGER = 50;
const LATE = 4;

/** Reads a log once, in constant memory beside the log itself. */
export class LogScanner {
  private readonly watchers: readonly Watcher[];
  private readonly index: AnchorIndex;
  private readonly contextFrom: number;
  private readonly marksFrom: number;
  private readonly exceptionsFrom: number;
  private readonly survivedFrom: number;

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
  }

  scan(log: string): Scan {
    const pass = new Pass(log);
    const late = new LateLines();
    const last = this.index.forEachLine(log, (found, ids) => {
      const open = ids.filter((id) => !(this.isLastCounting(id) && late.keep(id, found)));
      if (open.length > 0 && !this.isSettled(pass, open)) this.read(pass, found, open);
    });
    for (const [id, found] of late.all()) this.read(pass, found, [id]);
    const tail = last === null ? undefined : linesOf(log.slice(last.start, last.end)).at(-1);
    return pass.result(
      tail === undefined || last === null ? null : { line: tail, lineNumber: last.lineNumber },
    );
  }

  private isLastCounting(id: number): boolean {
    if (id < this.contextFrom || id >= this.exceptionsFrom) return false;
    const mark = MARKS[id - this.marksFrom]?.name;
    return mark === undefined || LAST_ONE_COUNTS.has(mark);
  }

  /** Whether one more line with these texts can tell nothing new: what keeps a log of a million errors cheap. */
  private isSettled(pass: Pass, ids: readonly number[]): boolean {
    let isKnown = false;
    for (const id of ids) {
      if (id >= this.exceptionsFrom) continue;
      const sign = this.watchers[id]?.sign;
      const mark = MARKS[id - this.marksFrom]?.name;
      if (sign === undefined) {
        if (mark === undefined || LAST_ONE_COUNTS.has(mark) || !pass.hasMark(mark)) return false;
        continue;
      }
      const settled = pass.settled(sign);
      if (settled === null) return false;
      isKnown ||= settled === "seen" && sign.weight !== "hint";
    }
    return isKnown || pass.hasEnoughExceptions() || !ids.some((id) => id >= this.exceptionsFrom);
  }

  private read(pass: Pass, found: FoundLine, unsorted: readonly number[]): void {
    const ids = [...unsorted].sort((one, other) => one - other);
    for (const line of linesOf(pass.log.slice(found.start, found.end))) {
      pass.enter(line, found.lineNumber);
      // The harm first: a mark tells the phase of what comes after it, on other lines.
      let isKnown = false;
      for (const id of ids) {
        if (id < this.contextFrom) {
          const watcher = this.watchers[id];
          if (watcher !== undefined) isKnown = pass.look(watcher, line, found) || isKnown;
        } else if (id < this.marksFrom)
          pass.note(CONTEXT_PATTERNS[id - this.contextFrom], line, found.lineNumber);
        else if (id < this.exceptionsFrom) {
          const mark = MARKS[id - this.marksFrom];
          if (mark?.pattern.test(line.text) === true) pass.mark(mark.name, line, found.lineNumber);
        } else if (id < this.survivedFrom && !isKnown) pass.exception(line, found);
      }
    }
  }
}

function linesOf(raw: string): readonly LogLine[] {
  return readJsonRecord(raw) ?? [readLogLine(raw)];
}

/** Keeps the last few lines of each kind instead of reading every one of a million. */
class LateLines {
  private readonly counts = new Map<number, number>();
  private readonly lines = new Map<number, FoundLine[]>();

  /** false: the line must be read now. */
  keep(id: number, found: FoundLine): boolean {
    const count = (this.counts.get(id) ?? 0) + 1;
    this.counts.set(id, count);
    if (count <= EAGER) return false;
    const lines = this.lines.get(id) ?? [];
    if (lines.push(found) > LATE) lines.shift();
    this.lines.set(id, lines);
    return true;
  }

  /** In the order of the log. */
  all(): readonly (readonly [id: number, found: FoundLine])[] {
    return [...this.lines]
      .flatMap(([id, lines]) => lines.map((found) => [id, found] as const))
      .sort(([, one], [, other]) => one.start - other.start);
  }
}
