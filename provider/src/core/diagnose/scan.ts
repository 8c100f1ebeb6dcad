import { AnchorIndex, anchorOf, type FoundLine } from "./anchors";
import { type LogLine, readJsonRecord, readLogLine } from "./log-line";
import { CONTEXT_PATTERNS, type MarkName, MARKS } from "./marks";
import { NOISE } from "./noise";
import { type CauseRule, type Sighting, type Sign, valuesOf } from "./rule";
import { SURVIVED_ERRORS, SurvivedRecords } from "./survived";

export interface SeenLine {
  readonly line: LogLine;
  /** Counted from 1. */
  readonly lineNumber: number;
}

/** What one pass over a log found. Everything but `context` belongs to the time after the last "ready", if there was one. */
export interface Scan {
  readonly sightings: readonly Sighting[];
  readonly marks: ReadonlyMap<MarkName, SeenLine>;
  readonly context: Readonly<Record<string, string | number>>;
  /** Exceptions that no rule knows and that are no wrapper, from the first failure mark on (or before it, when none came after). */
  readonly exceptions: readonly SeenLine[];
  readonly lastShards: SeenLine | null;
  readonly last: SeenLine | null;
}

/** How many characters before a line a sign may look at. */
const BEFORE = 1000;
const MOST_EXCEPTIONS = 30;
const EXCEPTION =
  /^\s{0,2}(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Timeout|Exit|OutOfResources|Unsupported)(?:: |\(|$)|(?:Value error|Assertion failed), )/;
/** A line of source in a traceback: it holds the words of the error before they are filled in. */
const SOURCE_CODE = /^ {4}/;
const EXCEPTION_ANCHORS = [
  "Error",
  "Exception",
  "Interrupt",
  "OutOfResources",
  "Unsupported:",
  "Value error, ",
  "Assertion failed, ",
] as const;

interface Watcher {
  readonly rule: CauseRule;
  readonly sign: Sign;
}

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
    const last = this.index.forEachLine(log, (found, ids) => {
      if (!ids.every((id) => this.isSettled(pass, id))) this.read(pass, found, ids);
    });
    const tail = last === null ? undefined : linesOf(log.slice(last.start, last.end)).at(-1);
    return pass.result(
      tail === undefined || last === null ? null : { line: tail, lineNumber: last.lineNumber },
    );
  }

  /** Whether one more line of this kind can tell nothing new: what keeps a log of a million errors cheap. */
  private isSettled(pass: Pass, id: number): boolean {
    if (id >= this.survivedFrom) return false;
    if (id >= this.exceptionsFrom) return pass.hasEnoughExceptions();
    const watcher = this.watchers[id];
    return watcher !== undefined && pass.isSure(watcher.sign);
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
        } else if (id < this.survivedFrom && !isKnown) pass.exception(line, found.lineNumber);
      }
    }
  }
}

/** Progress bars overwrite their line with \r: each state is a line of its own. */
function linesOf(raw: string): readonly LogLine[] {
  const record = readJsonRecord(raw);
  if (record !== null) return record;
  if (!raw.includes("\r")) return [readLogLine(raw)];
  return raw.split("\r").flatMap((part) => (part.trim() === "" ? [] : [readLogLine(part)]));
}

class Pass {
  private readonly seen = new Map<Sign, Sighting>();
  private readonly marks = new Map<MarkName, SeenLine>();
  private context: Record<string, string | number> = {};
  private exceptions: SeenLine[] = [];
  private earlierExceptions: readonly SeenLine[] = [];
  private lastShards: SeenLine | null = null;
  private readonly survived = new SurvivedRecords();
  private isSurvived = false;

  constructor(readonly log: string) {}

  /** Begins a line. */
  enter(line: LogLine, lineNumber: number): void {
    this.isSurvived = this.survived.holds(line, lineNumber, EXCEPTION.test(line.text));
  }

  isSure(sign: Sign): boolean {
    const before = this.seen.get(sign);
    return before !== undefined && !before.isSurvived && EXCEPTION.test(before.line.text);
  }

  hasEnoughExceptions(): boolean {
    return this.exceptions.length >= MOST_EXCEPTIONS;
  }

  /** Whether the line shows the sign. The first line counts; one that says the exception's type is better evidence. */
  look({ rule, sign }: Watcher, line: LogLine, { start, lineNumber }: FoundLine): boolean {
    if (SOURCE_CODE.test(line.text)) return false;
    const match = sign.pattern.exec(line.text);
    if (match === null) return false;
    const before = this.seen.get(sign);
    const isKnown = sign.weight !== "hint";
    const isBetter =
      before === undefined ||
      (before.isSurvived && !this.isSurvived) ||
      (!EXCEPTION.test(before.line.text) && EXCEPTION.test(line.text));
    if (!isBetter) return isKnown;
    if (sign.accepts?.(match, line, this.log.slice(Math.max(0, start - BEFORE), start)) === false)
      return false;
    const { isSurvived } = this;
    const isFirst = before === undefined || before.isSurvived;
    const firstLineNumber = isFirst ? lineNumber : before.firstLineNumber;
    const values = valuesOf(match.groups);
    this.seen.set(sign, { rule, sign, line, lineNumber, firstLineNumber, isSurvived, values });
    return isKnown;
  }

  note(pattern: RegExp | undefined, line: LogLine, lineNumber: number): void {
    const match = pattern?.exec(line.text);
    if (match === null || match === undefined) return;
    this.context = { ...this.context, ...valuesOf(match.groups) };
    if (match.groups?.["shardsDone"] !== undefined) this.lastShards = { line, lineNumber };
  }

  mark(name: MarkName, line: LogLine, lineNumber: number): void {
    if (name === "ready" && !this.marks.has("ready")) {
      // Whatever was printed before did not keep the server from coming up.
      this.seen.clear();
      this.marks.clear();
      this.exceptions = [];
      this.earlierExceptions = [];
    }
    if (name === "failed" && !this.marks.has("failed")) {
      this.earlierExceptions = this.exceptions;
      this.exceptions = [];
    }
    if (!this.marks.has(name) || name === "finished" || name === "progress") this.marks.set(name, { line, lineNumber });
  }

  exception(line: LogLine, lineNumber: number): void {
    if (this.isSurvived || this.hasEnoughExceptions() || this.exceptions.at(-1)?.lineNumber === lineNumber) return;
    if (line.level === "WARNING" || line.level === "INFO" || line.level === "DEBUG") return;
    if (!EXCEPTION.test(line.text) || NOISE.some((pattern) => pattern.test(line.text))) return;
    this.exceptions.push({ line, lineNumber });
  }

  result(last: SeenLine | null): Scan {
    return {
      sightings: [...this.seen.values()].sort((one, other) => one.firstLineNumber - other.firstLineNumber),
      marks: this.marks,
      context: this.context,
      exceptions: this.exceptions.length > 0 ? this.exceptions : this.earlierExceptions,
      lastShards: this.lastShards,
      last,
    };
  }
}
