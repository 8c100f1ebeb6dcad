import type { CauseRule, Sighting } from "./rule";
import { WEIGHTS } from "./rule";
import type { Scan } from "./pass";

export interface Ending {
  /** The exit code of the API server; null: it still runs, or it is not known. */
  readonly exitCode: number | null;
  /** null: not ended by a signal. */
  readonly signal: number | null;
}

/** Signal that ended the process: told, or in the exit code as shells (128+n) and Python (-n) write it. */
export function signalOf(ending: Ending): number | null {
  if (ending.signal !== null && ending.signal !== 0) return Math.abs(ending.signal);
  const code = ending.exitCode ?? 0;
  if (code < 0) return -code;
  return code > 128 && code < 160 ? code - 128 : null;
}

/** Whether something went wrong at all. Code 0 is no proof of the contrary: vLLM exits 0 when its engine dies. */
export function isFailed(scan: Scan, ending: Ending): boolean {
  if (ending.exitCode !== null && ending.exitCode !== 0) return true;
  if (signalOf(ending) !== null || scan.marks.has("failed")) return true;
  // Still running or ended with 0: only what an ERROR line or a bare exception proves counts, only before ready, and only while
  // the start has not gone on after it.
  const progress = scan.marks.get("progress")?.lineNumber ?? 0;
  return (
    !scan.marks.has("ready") &&
    scan.sightings.some(
      (one) => isSevere(one) && WEIGHTS[one.sign.weight] >= WEIGHTS.error && one.lineNumber > progress,
    )
  );
}

function isSevere(sighting: Sighting): boolean {
  const level = sighting.line.level;
  return !sighting.isSurvived && (level === null || level === "ERROR" || level === "CRITICAL");
}

/** Only an ERROR line or a bare exception has its full weight; in a warning a proof is worth more than a symptom, nothing else is. */
function rankOf(sighting: Sighting): number {
  const weight = WEIGHTS[sighting.sign.weight];
  if (isSevere(sighting) || weight < WEIGHTS.symptom) return weight;
  if (weight === WEIGHTS.symptom && !sighting.isSurvived) return weight;
  const isProof = weight >= WEIGHTS.proof && !sighting.isSurvived;
  return isProof && sighting.line.level === "WARNING" ? WEIGHTS.error - 1 : WEIGHTS.symptom - 1;
}

const SIGKILL = 9;

/** A signal that comes after an exception, or to the others once the API server was killed, is how the rest was cleared away. */
function isAftermath(sighting: Sighting, scan: Scan, ending: Ending): boolean {
  if (sighting.rule.cause !== "TERMINATED_BY_SIGNAL") return false;
  const { place } = sighting.line;
  if (signalOf(ending) === SIGKILL && place !== null && place !== "API server") return true;
  const failed = scan.marks.get("failed");
  const exception = scan.exceptions[0];
  if (failed === undefined || exception === undefined) return false;
  return Math.max(failed.lineNumber, exception.lineNumber) < sighting.firstLineNumber;
}

export interface Choice {
  readonly rule: CauseRule;
  readonly evidence: Sighting;
  readonly values: Readonly<Record<string, string | number>>;
}

/** The cause with the strongest sign; of equals the one that came first. null: no sign at all. */
export function chooseCause(scan: Scan, ending: Ending): Choice | null {
  const first = scan.sightings
    .filter((one) => one.sign.weight !== "hint" && !isAftermath(one, scan, ending))
    .reduce<Sighting | null>((best, one) => (best === null || rankOf(one) > rankOf(best) ? one : best), null);
  // What was only mentioned in passing is no cause where an exception tells of another one.
  if (first === null || (rankOf(first) < WEIGHTS.symptom && scan.exceptions.length > 0)) return null;
  const same = scan.sightings.filter((one) => one.rule.cause === first.rule.cause);
  const best = same.find((one) => one.sign.isBestEvidence === true);
  const evidence = best ?? first;
  const found = [...same].reverse().concat(first, evidence);
  const values = found.reduce<Sighting["values"]>(
    (all, one) => ({ ...all, ...one.values }),
    contextOf(first.rule, scan),
  );
  return { rule: first.rule, evidence, values };
}

function contextOf(rule: CauseRule, scan: Scan): Record<string, string | number> {
  const wanted = rule.context ?? [];
  return Object.fromEntries(Object.entries(scan.context).filter(([name]) => wanted.includes(name)));
}
