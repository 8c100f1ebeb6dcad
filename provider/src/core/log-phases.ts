import { readJsonRecord, readLogLine } from "./diagnose/log-line";
import { type Phase, PHASE_ROWS, PHASES } from "./log-phase-rows";

export interface LinePhase {
  readonly phase: Phase;
  /** Short words for the user's line. */
  readonly text: string;
  /** 0 to 100; null: this phase does not tell. */
  readonly percent: number | null;
}

export type StartProgress = LinePhase;

/** What a log line says about the start; null: nothing. */
export function phaseOf(line: string): LinePhase | null {
  const record = readJsonRecord(line)?.[0];
  const text = (record ?? readLogLine(line.slice(line.trimEnd().lastIndexOf("\r") + 1))).text.trim();
  for (const row of PHASE_ROWS) {
    const match = row.pattern.exec(text);
    if (match === null) continue;
    const groups = match.groups ?? {};
    const percent = groups["percent"];
    return {
      phase: row.phase,
      text: filled(row.text, groups),
      percent: percent === undefined ? null : Math.min(100, Number(percent)),
    };
  }
  return null;
}

/**
 * Follows a start line by line. Phases only go forward, and within a phase the percentage never falls: workers print their bars side
 * by side. null until a line says something.
 */
export function startProgress(previous: StartProgress | null, line: string): StartProgress | null {
  const seen = phaseOf(line);
  if (seen === null || previous === null) return seen ?? previous;
  const step = PHASES.indexOf(seen.phase) - PHASES.indexOf(previous.phase);
  if (step !== 0) return step > 0 ? seen : previous;
  if (previous.percent === null) return seen;
  return seen.percent !== null && seen.percent > previous.percent ? seen : previous;
}

function filled(template: string, groups: Readonly<Record<string, string | undefined>>): string {
  return template
    .replace(/\[([^\]]*\{(\w+)\}[^\]]*)\]/g, (_whole, part: string, name: string) =>
      groups[name] === undefined ? "" : part,
    )
    .replace(/\{(\w+)\}/g, (_whole, name: string) => groups[name] ?? "");
}
