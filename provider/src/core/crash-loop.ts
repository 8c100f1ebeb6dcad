import { countedText } from "./amount-text";
import { diagnose, type Diagnosis } from "./diagnose";
import type { CrashSeen, ExitSeen, LogExcerpt, Observed, ServerSeen } from "./observed";
import { proofText } from "./proof-text";
import { redact } from "./redact";
import type { Spec } from "./spec";

/** "crash-looping: given up after 5 automatic restarts; first failure (start 3, ...): ...; last failure (start 8, ...): ..." */
export function crashLoopWords(observed: Observed): string {
  const [first, ...later] = observed.server.crashes;
  const last = later.at(-1);
  if (first === undefined || last === undefined) return "crash-looping: given up";
  const firstCause = causeOf(first, observed);
  const lastCause = causeOf(last, observed);
  const isSame = lastCause.summary !== null && lastCause.summary === firstCause.summary;
  return [
    `crash-looping: given up after ${times(last.exit.generation - first.exit.generation)}`,
    `first failure (${exitWords(first.exit)}): ${firstCause.words}`,
    `last failure (${exitWords(last.exit)}): ${isSame ? "the same" : lastCause.words}`,
  ].join("; ");
}

/** ": <cause>" of the last failure; "" where nothing of it is known. */
export function lastCrashWords(observed: Observed): string {
  const last = observed.server.crashes.at(-1);
  return last === undefined ? "" : `: ${causeOf(last, observed).words}`;
}

/** "5 automatic restarts" */
export function times(restarts: number): string {
  return countedText(restarts, "automatic restart");
}

/** @param marked values that are secret because the program says so */
export function withoutSecrets(server: ServerSeen, spec: Spec, marked: readonly string[]): ServerSeen {
  const clean = (line: string): string => redact(spec, line, marked);
  const cleaned = (log: LogExcerpt | null): LogExcerpt | null =>
    log?.map(({ first, lines }) => ({ first, lines: lines.map(clean) })) ?? null;
  const crashes = server.crashes.map(({ exit, log }) => ({ exit, log: cleaned(log) }));
  const { illness } = server;
  return { ...server, crashes, illness: illness === null ? null : { ...illness, log: cleaned(illness.log) } };
}

interface Cause {
  /** Tells whether two are the same; null: not known. */
  readonly summary: string | null;
  readonly words: string;
}

/** What the log of a server that still runs says of a failure; null: nothing. */
export function logCause(log: LogExcerpt, observed: Observed): string | null {
  return diagnosed(log, { code: null, signal: null }, observed)?.words ?? null;
}

function causeOf({ exit, log }: CrashSeen, observed: Observed): Cause {
  if (log === null) return { summary: null, words: "its log is not there any more" };
  return diagnosed(log, exit, observed) ?? { summary: null, words: "its log tells of no failure" };
}

/** null: it tells of no failure. */
function diagnosed(
  log: LogExcerpt,
  { code, signal }: Pick<ExitSeen, "code" | "signal">,
  { executable }: Observed,
): Cause | null {
  const diagnosis = diagnose({
    log: log.flatMap(({ lines }) => lines).join("\n"),
    exitCode: code,
    signal,
    vllmVersion: executable?.found === true ? executable.version : null,
  });
  if (diagnosis.cause === "NO_FAILURE") return null;
  const change = diagnosis.change === null ? "" : `, change: ${diagnosis.change}`;
  return { summary: diagnosis.summary, words: `${diagnosis.summary}${proofWords(diagnosis, log)}${change}` };
}

function proofWords({ summary, evidence, logLine }: Diagnosis, log: LogExcerpt): string {
  if (evidence === null || logLine === null) return "";
  const text = proofText(evidence);
  const place = `log line ${String(lineNumber(log, logLine))}`;
  return summary.includes(text) ? ` (${place})` : ` - proof: ${text} (${place})`;
}

/** @param line counted from 1 through the stretches as if nothing stood between them */
function lineNumber(log: LogExcerpt, line: number): number {
  let before = 0;
  for (const { first, lines } of log) {
    if (line <= before + lines.length) return first + line - before - 1;
    before += lines.length;
  }
  return line;
}

/** "start 3, exit code 1, 12:03:11Z" */
function exitWords({ generation, code, signal, at }: ExitSeen): string {
  const ending =
    signal === null ? (code === null ? [] : [`exit code ${String(code)}`]) : [`signal ${String(signal)}`];
  const time = /T(\d\d:\d\d:\d\d)/.exec(at)?.[1];
  return [`start ${String(generation)}`, ...ending, ...(time === undefined ? [] : [`${time}Z`])].join(", ");
}
