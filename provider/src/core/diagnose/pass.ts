import { type LogLine, readLogLine } from "./log-line";
import type { MarkName } from "./marks";
import { NOISE } from "./noise";
import { type CauseRule, type Sighting, type Sign, sourceOf, valuesOf } from "./rule";
import { SurvivedRecords } from "./survived";

export interface SeenLine {
  readonly line: LogLine;
  /** Counted from 1. */
  readonly lineNumber: number;
}

/** A line as it was found. */
export interface RawLine {
  readonly raw: string;
  /** Counted from 1. */
  readonly lineNumber: number;
  /** Up to 1000 characters of what stands before it. */
  readonly before: () => string;
}

export interface SeenException extends SeenLine {
  /** Of an exception that says nothing itself: the line of source that raised it. */
  readonly source: string | null;
}

/** What one pass over a log found. Everything but `context` belongs to the time after the last "ready", if there was one. */
export interface Scan {
  readonly sightings: readonly Sighting[];
  readonly marks: ReadonlyMap<MarkName, SeenLine>;
  readonly context: Readonly<Record<string, string | number>>;
  /** Exceptions that no rule knows and that are no wrapper, from the first failure mark on (or before it, when none came after). */
  readonly exceptions: readonly SeenException[];
  /** The first wrapper that repeats words of what it wraps: better than nothing where that itself was lost. */
  readonly wrapper: SeenLine | null;
  readonly lastShards: SeenLine | null;
  readonly last: SeenLine | null;
}

const MOST_EXCEPTIONS = 30;
/** After so many lines with one sign the best of them has been there. */
const MOST_LOOKS = 500;
/** After so many lines that only look like having it, no line has it. */
const MOST_VAIN_LOOKS = 5000;
/** A line that names an exception or what a validation found. */
const EXCEPTION =
  /^\s{0,2}(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Timeout|Exit|OutOfResources|Unsupported)(?:: |\(|$)|(?:Value error|Assertion failed), )/;
const CARRIES_CAUSE = /Worker failed with error|method failed|RayTaskError|Error raised in subprocess/;
/** A line of source in a traceback: it holds the words of the error before they are filled in. */
const SOURCE_CODE = /^ {4}/;

export interface Watcher {
  readonly rule: CauseRule;
  readonly sign: Sign;
}

/** What is known so far of a log that is read line by line. */
export class Pass {
  private readonly seen = new Map<Sign, Sighting>();
  private readonly marks = new Map<MarkName, SeenLine>();
  private context: Record<string, string | number> = {};
  private exceptions: SeenException[] = [];
  private earlierExceptions: readonly SeenException[] = [];
  private wrapper: SeenLine | null = null;
  private lastShards: SeenLine | null = null;
  private readonly looks = new Map<Sign, number>();
  private readonly survived = new SurvivedRecords();
  private isSurvived = false;
  /** What `settled` said for good: asked for every line that holds the sign's fixed text. */
  private readonly closed = new Map<Sign, "seen" | "given up">();

  /** Begins a line. */
  enter(line: LogLine, lineNumber: number): void {
    this.isSurvived = this.survived.holds(line, lineNumber, EXCEPTION.test(line.text));
  }

  /** Whether one more line that may have this sign can tell nothing better; "seen": and the sign is there. */
  settled(sign: Sign): "seen" | "given up" | null {
    const closed = this.closed.get(sign) ?? this.judged(sign);
    if (closed !== null) this.closed.set(sign, closed);
    return closed;
  }

  private judged(sign: Sign): "seen" | "given up" | null {
    const looks = this.looks.get(sign) ?? 0;
    const before = this.seen.get(sign);
    if (before === undefined) return looks > MOST_VAIN_LOOKS ? "given up" : null;
    const isBest = !before.isSurvived && EXCEPTION.test(before.line.text);
    return isBest || looks > MOST_LOOKS ? "seen" : null;
  }

  hasMark(name: MarkName): boolean {
    return this.marks.has(name);
  }

  hasEnoughExceptions(): boolean {
    return this.exceptions.length >= MOST_EXCEPTIONS;
  }

  /** Whether the line shows the sign. The first line counts; one that says the exception's type is better evidence. */
  look({ rule, sign }: Watcher, line: LogLine, { lineNumber, before: textBefore }: RawLine): boolean {
    this.looks.set(sign, (this.looks.get(sign) ?? 0) + 1);
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
    if (sign.accepts?.(match, line, textBefore()) === false) return false;
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
    if (SOURCE_CODE.test(line.text)) return;
    if (name === "ready" && !this.marks.has("ready")) {
      // Whatever was printed before did not keep the server from coming up.
      this.seen.clear();
      this.looks.clear();
      this.closed.clear();
      this.marks.clear();
      this.exceptions = [];
      this.earlierExceptions = [];
      this.wrapper = null;
    }
    if (name === "failed" && !this.marks.has("failed")) {
      this.earlierExceptions = this.exceptions;
      this.exceptions = [];
    }
    if (!this.marks.has(name) || name === "finished" || name === "progress")
      this.marks.set(name, { line, lineNumber });
  }

  exception(line: LogLine, { lineNumber, before }: RawLine): void {
    if (this.isSurvived || this.hasEnoughExceptions() || this.exceptions.at(-1)?.lineNumber === lineNumber)
      return;
    if (line.level === "WARNING" || line.level === "INFO" || line.level === "DEBUG") return;
    if (!EXCEPTION.test(line.text)) return;
    if (!NOISE.some((pattern) => pattern.test(line.text))) {
      const source = /: /.test(line.text) ? "" : sourceOf(before());
      this.exceptions.push({ line, lineNumber, source: readLogLine(source).text.trim() || null });
    } else if (this.wrapper === null && CARRIES_CAUSE.test(line.text)) this.wrapper = { line, lineNumber };
  }

  result(last: SeenLine | null): Scan {
    return {
      sightings: [...this.seen.values()].sort((one, other) => one.firstLineNumber - other.firstLineNumber),
      marks: this.marks,
      context: this.context,
      exceptions: this.exceptions.length > 0 ? this.exceptions : this.earlierExceptions,
      wrapper: this.wrapper,
      lastShards: this.lastShards,
      last,
    };
  }
}
