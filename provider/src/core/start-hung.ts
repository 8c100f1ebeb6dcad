import { durationText } from "./amount-text";
import { diagnose } from "./diagnose";
import { type ErrorDetails, VllmServerError } from "./errors";
import { hangAdvice } from "./hang-advice";
import type { StartProgress } from "./log-phases";
import { proofText } from "./proof-text";
import { processWords, type StuckProcess } from "./stuck-process";

/** A start that was given up without a sign of life. */
export interface HungStart {
  readonly kind: "hung";
  readonly silentSeconds: number;
  /** Processor time was the only sign of life. */
  readonly isSpinning: boolean;
  readonly lastLine: string | null;
  /** The request that a listening server did not answer; null: it does not listen. */
  readonly unanswered: string | null;
  readonly processes: readonly StuckProcess[];
  /** How far it came; null: its log does not tell. */
  readonly progress: StartProgress | null;
}

interface Circumstances {
  /** `server "kimi" on gpu1` */
  readonly server: string;
  readonly log: string;
  readonly vllmVersion: string | null;
  readonly logCommand: string | null;
}

/** START_HUNG: where and for how long, what its processes wait in, and what usually helps there. */
export function startHung(hung: HungStart, circumstances: Circumstances): VllmServerError {
  const { progress, silentSeconds, isSpinning } = hung;
  const sign = isSpinning
    ? "its processes are busy, but nothing was printed, read or written"
    : "no sign of life";
  const told = causeIn(circumstances);
  return new VllmServerError({
    code: "START_HUNG",
    summary: `Cannot start ${circumstances.server}: it hangs ${placeWords(hung)}: ${sign} for ${durationText(silentSeconds)}, need progress`,
    ...(told ?? lastLine(hung)),
    change: `${told?.change ?? hangAdvice(progress?.phase ?? null)}; timeouts.stall where it is only slow`,
    also: processWords(hung.processes),
    path: "timeouts.stall",
    logCommand: circumstances.logCommand ?? undefined,
    retryable: true,
  });
}

function placeWords({ unanswered, progress }: HungStart): string {
  if (unanswered !== null) return `before its first answer (it listens, and was asked ${unanswered})`;
  return progress === null ? "before its log tells how far it came" : `while "${progress.text}"`;
}

/** One process may have failed with its cause while the others wait for it for ever. */
function causeIn({
  log,
  vllmVersion,
}: Circumstances): Pick<ErrorDetails, "evidence" | "evidencePlace" | "change"> | null {
  const { cause, summary, evidence, logLine, change } = diagnose({
    log,
    exitCode: null,
    signal: null,
    vllmVersion,
  });
  if (cause === "NO_FAILURE" || cause === "UNKNOWN" || evidence === null || change === null) return null;
  const place = logLine === null ? "" : `, log line ${String(logLine)}`;
  return { evidence: proofText(evidence), evidencePlace: `${summary}${place}`, change };
}

function lastLine(hung: HungStart): Pick<ErrorDetails, "evidence" | "evidencePlace"> {
  if (hung.lastLine === null) return {};
  return { evidence: proofText(hung.lastLine), evidencePlace: "last line of its log" };
}
