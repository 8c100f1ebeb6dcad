import type { FailureCause } from "./causes";
import { type LogLine, readJsonRecord, readLogLine } from "./log-line";

/**
 * How much a sign says. Proofs name the cause; symptoms come with several causes; a hint says nothing alone but carries
 * the better line or values once another sign of its cause was seen.
 */
export const WEIGHTS = { verdict: 40, proof: 30, error: 20, symptom: 10, hint: 1 } as const;
export type Weight = keyof typeof WEIGHTS;

export interface Sign {
  readonly weight: Weight;
  /**
   * Matched against one message without its prefixes. Never a file, line number, pid or time. Needs a run of at least four plain
   * characters outside of groups: that run is looked for first. Named groups become values.
   */
  readonly pattern: RegExp;
  /** Version and file, or the issue it was seen in. */
  readonly source: string;
  /** Looks closer: the match, its line, and up to 1000 characters of log before it. */
  readonly accepts?: (match: RegExpExecArray, line: LogLine, before: string) => boolean;
  /** Shown as evidence before other signs of the cause. */
  readonly isBestEvidence?: boolean;
}

/** Templates: the first one is taken whose {values} are all known. */
export type Templates = readonly string[];

export interface CauseRule {
  readonly cause: FailureCause;
  /** One clause that ends "Cannot start X: ...". */
  readonly summary: Templates;
  /** In the words of our inputs, with vLLM's flag in parentheses. */
  readonly change: Templates;
  /** Whether the same inputs can succeed later. */
  readonly retryable?: boolean;
  /** Values taken from elsewhere in the log (context.ts). */
  readonly context?: readonly string[];
  /** More values for the templates, computed from those of the log. */
  readonly derive?: (values: Values) => Values;
  readonly signs: readonly Sign[];
}

export type Values = Readonly<Record<string, string | number>>;

/** A sign as found. */
export interface Sighting {
  readonly rule: CauseRule;
  readonly sign: Sign;
  readonly line: LogLine;
  /** Of `line`, counted from 1. */
  readonly lineNumber: number;
  /** Where the sign was first seen. */
  readonly firstLineNumber: number;
  /** The program said so and lived on (survived.ts). */
  readonly isSurvived: boolean;
  readonly values: Values;
}

/**
 * The line of source that raised `line`, which comes after `before`. Python 3.11 and later point at a part of it on a line of their own;
 * progress bars and other processes come between.
 */
export function sourceOf(before: string, line?: LogLine): string {
  const lasting = before.replace(/[^\r\n]*\r(?!\n)/g, "");
  const lines = lasting
    .split("\n")
    .flatMap((raw) => readJsonRecord(raw) ?? [readLogLine(raw)])
    .filter(({ text }) => text.trim() !== "" && !/[~^]\s*$/.test(text));
  const own = lines.filter((one) => line !== undefined && prefixOf(one) === prefixOf(line));
  return (own.at(-1) ?? lines.at(-1))?.text ?? "";
}

/** The same for every line of one process and record. */
function prefixOf({ raw, text }: LogLine): string {
  return raw.slice(0, raw.length - text.length);
}

/** Values that stay text although they look like numbers. */
const TEXT_VALUES: ReadonlySet<string> = new Set(["glibc", "have", "want"]);

/** Named groups as values: numbers as numbers, thousands commas dropped. */
export function valuesOf(
  groups: Readonly<Record<string, string | undefined>> | undefined,
): Record<string, string | number> {
  const values: Record<string, string | number> = {};
  for (const [name, text] of Object.entries(groups ?? {})) {
    if (text === undefined) continue;
    const isNumber = !TEXT_VALUES.has(name) && /^-?\d[\d,]*(?:\.\d+)?$/.test(text);
    values[name] = isNumber ? Number(text.replaceAll(",", "")) : text;
  }
  return values;
}

/** Fills the first template that can be filled whole. */
export function fill(templates: Templates, values: Values): string {
  for (const template of templates) {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
    if (names.every((name) => values[name] !== undefined)) {
      return template.replace(/\{(\w+)\}/g, (_whole, name: string) => String(values[name]));
    }
  }
  return templates.at(-1) ?? "";
}
