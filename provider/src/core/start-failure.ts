import { activityWords, type Activity } from "./activity";
import { type Diagnosis, diagnose } from "./diagnose";
import { VllmServerError, withAlso } from "./errors";
import { hangAdvice } from "./hang-advice";
import type { StartProgress } from "./log-phases";
import { proofText } from "./proof-text";
import { startHung, type HungStart } from "./start-hung";

/** Everything known about a start that did not end ready. */
export interface FailedStart {
  /** `server "kimi" on gpu1` */
  readonly server: string;
  readonly outcome:
    | { readonly kind: "exited"; readonly code: number | null; readonly signal: number | null }
    | { readonly kind: "fatal"; readonly line: string }
    | {
        readonly kind: "timeout";
        readonly waitedSeconds: number;
        readonly lastLine: string | null;
        /** The request that a listening server did not answer; null: it does not listen. */
        readonly unanswered: string | null;
        /** What it did at the end. */
        readonly activity: Activity;
        /** How far it came; null: its log does not tell. */
        readonly progress: StartProgress | null;
      }
    | HungStart
    | { readonly kind: "port-lost"; readonly winner: string }
    | { readonly kind: "wrong-answer"; readonly detail: string }
    | {
        readonly kind: "kv-cache-dtype-lost";
        readonly wanted: string;
        readonly dtype: string;
        readonly evidence: string;
        readonly place: string;
      };
  /** The log of this start and of no other. */
  readonly log: string;
  /** What the kernel said of its processes and GPUs meanwhile. */
  readonly kernel?: readonly string[] | undefined;
  readonly port: number;
  readonly vllmVersion: string | null;
  /** null: no log was begun. */
  readonly logCommand: string | null;
}

/** One error with the cause, the line that proves it and the input to change. */
export function startFailure(failed: FailedStart): VllmServerError {
  const { outcome, server } = failed;
  const logCommand = failed.logCommand ?? undefined;
  switch (outcome.kind) {
    case "exited":
    case "fatal":
      // A fatal line is as good as an exit: the process only has not ended yet.
      return diagnosed(failed, diagnosisOf(failed, outcome.kind === "exited" ? outcome : FATAL));
    case "timeout": {
      // What waits for a process that was killed, or for a GPU that is gone, waits for ever.
      const diagnosis = diagnosisOf(failed, RUNNING);
      if (diagnosis.place === "kernel") return diagnosed(failed, diagnosis);
      return new VllmServerError({
        code: "START_TIMEOUT",
        summary:
          outcome.unanswered === null
            ? `Cannot start ${server}: not ready after ${seconds(outcome)}, and its process still runs`
            : `Cannot start ${server}: it listens, but had not answered ${outcome.unanswered} when ${seconds(outcome)} were over`,
        evidence: outcome.lastLine ?? undefined,
        evidencePlace: outcome.lastLine === null ? undefined : "last line of its log",
        change: timeoutChange(outcome),
        also: `at the end: ${[...(outcome.progress === null ? [] : [outcome.progress.text]), activityWords(outcome.activity)].join(", ")}`,
        path: "timeouts.ready",
        logCommand,
        retryable: true,
      });
    }
    case "hung": {
      const diagnosis = diagnosisOf(failed, RUNNING);
      return diagnosis.place === "kernel" ? diagnosed(failed, diagnosis) : startHung(outcome, failed);
    }
    case "port-lost":
      return new VllmServerError({
        code: "PORT_LOST",
        summary: `Cannot start ${server}: its log says it is up, but port ${String(failed.port)} is answered by ${outcome.winner}`,
        change: "listen.port   (two servers were started on one port at the same time; this one was stopped)",
        path: "listen.port",
        logCommand,
        retryable: false,
      });
    case "wrong-answer":
      return new VllmServerError({
        code: "START_FAILED",
        summary: `Cannot start ${server}: it answers, but not as declared: ${outcome.detail}`,
        change: "readiness.probe, engine.servedModelName or the model, as the answer says",
        logCommand,
        retryable: false,
      });
    case "kv-cache-dtype-lost":
      return new VllmServerError({
        code: "KV_CACHE_DTYPE_LOST",
        summary: `Cannot start ${server}: it answers, but keeps its KV cache in ${outcome.dtype}, need ${outcome.wanted}`,
        evidence: outcome.evidence,
        evidencePlace: outcome.place,
        change: `kvCacheDtype: "auto" or ${JSON.stringify(outcome.dtype)} to have what this vLLM makes of the model here, or another vLLM`,
        path: "kvCacheDtype",
        logCommand,
        retryable: false,
      });
    default:
      return outcome satisfies never;
  }
}

/** Of one that had stopped to get on for so long, more time is not what helps. */
const STUCK_SECONDS = 60;

function timeoutChange({
  unanswered,
  activity: { stillSeconds, spinningSeconds },
  progress,
}: Extract<FailedStart["outcome"], { kind: "timeout" }>): string {
  if (unanswered !== null)
    return "timeouts.ready where its first answer takes long, or readiness.probe where that request never fits this model";
  const isStuck = Math.max(stillSeconds, spinningSeconds) >= STUCK_SECONDS;
  if (isStuck) return `${hangAdvice(progress?.phase ?? null)}; timeouts.ready where it is only slow`;
  return "timeouts.ready   (seconds; big checkpoints on slow disks take long)";
}

function seconds(outcome: { readonly waitedSeconds: number }): string {
  return `${String(Math.round(outcome.waitedSeconds))} s`;
}

/** The same failure, and that what is left of the start could not be stopped: neither may hide the other. */
export function withUnstopped(failure: VllmServerError, error: unknown): VllmServerError {
  return new VllmServerError({
    ...failure.details,
    also: `what is left of it could not be stopped, the next \`pulumi up\` tries again: ${reasonOf(error)}`,
  });
}

/** The same failure, and that what served before it serves again, or why it does not. */
export function withReturn(
  failure: VllmServerError,
  earlier: string,
  error: unknown = null,
): VllmServerError {
  const also =
    error === null
      ? `${earlier} serves again; the next \`pulumi up\` tries the new one again`
      : `${earlier} could not be started again: ${reasonOf(error)}`;
  return withAlso(failure, also);
}

/** On one line. */
function reasonOf(error: unknown): string {
  if (!(error instanceof VllmServerError)) return error instanceof Error ? error.message : String(error);
  const { summary, evidence } = error.details;
  return evidence === undefined ? summary : `${summary} (${evidence})`;
}

interface Exit {
  readonly code: number | null;
  readonly signal: number | null;
}

const FATAL: Exit = { code: 1, signal: null };
const RUNNING: Exit = { code: null, signal: null };

function diagnosisOf({ log, vllmVersion, kernel }: FailedStart, { code, signal }: Exit): Diagnosis {
  return diagnose({ log, exitCode: code, signal, vllmVersion, kernel });
}

function diagnosed(failed: FailedStart, diagnosis: Diagnosis): VllmServerError {
  const lineNumber = diagnosis.logLine === null ? [] : [`log line ${String(diagnosis.logLine)}`];
  const speaker = diagnosis.place === "kernel" ? "the kernel's log" : diagnosis.place;
  const place = [...(speaker === null ? [] : [speaker]), ...lineNumber].join(", ");
  return new VllmServerError({
    code: "START_FAILED",
    summary: `Cannot start ${failed.server}: ${diagnosis.summary}`,
    evidence: diagnosis.evidence === null ? undefined : proofText(diagnosis.evidence),
    evidencePlace: place === "" ? undefined : place,
    change: diagnosis.change ?? undefined,
    logCommand: failed.logCommand ?? undefined,
    retryable: diagnosis.retryable,
    failureCause: diagnosis.cause === "UNKNOWN" ? undefined : diagnosis.cause,
  });
}
