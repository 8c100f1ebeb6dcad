import type { FailureCause } from "./causes";
import { type Choice, chooseCause, type Ending, isFailed, signalOf } from "./choose";
import { type KernelProof, kernelProof } from "./kernel";
import { fill } from "./rule";
import { ALL_RULES } from "./rules";
import { LIFE_ENDINGS } from "./rules/endings";
import { RUNTIME_OOM_RULE } from "./rules/memory";
import type { Scan, SeenLine } from "./pass";
import { type LogScan, LogScanner } from "./scan";

export interface DiagnosisInput {
  /** The log of one start, whole or its head and tail. */
  readonly log: string;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly vllmVersion?: string | null;
  /** Lines of the kernel's log (dmesg, journalctl -k) of this start's time, about its processes and GPUs; not there: nobody could read it. */
  readonly kernel?: readonly string[] | undefined;
}

export interface Diagnosis {
  readonly cause: FailureCause | "UNKNOWN";
  /** One clause for "Cannot start X: ...". */
  readonly summary: string;
  /** The proving line as it stands in the log, without colours; null: nothing proves it but the exit. */
  readonly evidence: string | null;
  /** Counted from 1; null: the evidence is no line of the log. */
  readonly logLine: number | null;
  /** "worker 3", "engine core", "API server"; "kernel": the evidence is of its log; null: the log does not say. */
  readonly place: string | null;
  /** Our input or the host action; null: nothing is known to help. */
  readonly change: string | null;
  readonly values: Readonly<Record<string, number | string>>;
  /** Whether the same inputs can succeed on a second try. */
  readonly retryable: boolean;
}

const PIECE_CHARACTERS = 1024 * 1024;

let scanner: LogScanner | null = null;

/** A log that is read as it comes, in the same memory whatever its size. Less than a second for 100 MB. */
export class LogReading {
  private readonly scan: LogScan;

  constructor() {
    scanner ??= new LogScanner(ALL_RULES);
    this.scan = scanner.begin();
  }

  /** The next bytes of it, UTF-8, cut anywhere. Never throws. */
  feed(piece: Uint8Array): void {
    this.scan.feed(piece);
  }

  /** What it comes to, when all of it was fed. Once. Never throws. */
  diagnosis(input: Omit<DiagnosisInput, "log">): Diagnosis {
    return judge(this.scan.end(), input);
  }
}

/**
 * Says why a start failed, from its log and its exit. NO_FAILURE: healthy, still starting, or stopped cleanly.
 * Never throws.
 */
export function diagnose({ log, ...input }: DiagnosisInput): Diagnosis {
  const reading = new LogReading();
  for (const piece of bytesOf(log)) reading.feed(piece);
  return reading.diagnosis(input);
}

/** Of a text that may be too large to be had twice. */
function* bytesOf(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let at = 0; at < text.length;) {
    const end = Math.min(text.length, at + PIECE_CHARACTERS);
    // Both halves of a character go together.
    const isCut = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
    yield encoder.encode(text.slice(at, isCut ? end - 1 : end));
    at = isCut ? end - 1 : end;
  }
}

function judge(scan: Scan, input: Omit<DiagnosisInput, "log">): Diagnosis {
  const { kernel } = input;
  const ending: Ending = { exitCode: input.exitCode, signal: input.signal };
  if (isCleanStop(scan, ending)) return noFailure(scan, ending);
  const hasFailed = isFailed(scan, ending);
  const choice = hasFailed ? chooseCause(scan, ending) : null;
  const proof = hasFailed || !scan.marks.has("ready") ? kernelProof(kernel ?? [], scan, choice) : null;
  if (proof !== null) return byKernel(proof);
  if (!hasFailed) return noFailure(scan, ending);
  if (choice !== null && !isRefuted(choice, kernel)) {
    const { evidence, values } = choice;
    const rule =
      choice.rule.cause === "GPU_OOM_STARTUP" && scan.marks.has("ready") ? RUNTIME_OOM_RULE : choice.rule;
    const known = {
      ...values,
      ...(rule.context?.includes("rank") === true ? rankOf(evidence.line.place) : {}),
    };
    const all = { ...known, ...rule.derive?.(known) };
    return {
      cause: rule.cause,
      summary: fill(rule.summary, all),
      ...placeIn(evidence),
      change: fill(rule.change, all),
      values: known,
      retryable: rule.retryable ?? false,
    };
  }
  return byEnding(scan, ending, kernel) ?? unknown(scan, ending);
}

/** What is only guessed from a death by SIGKILL, where the kernel's log shows that it was not the kernel. */
function isRefuted({ rule, evidence }: Choice, kernel: DiagnosisInput["kernel"]): boolean {
  return rule.cause === "HOST_OOM_KILLED" && evidence.sign.weight === "symptom" && kernel !== undefined;
}

/** Asked to stop, and went in order. A SIGTERM that reaches the engine first leaves an EngineDeadError, so a "failed" mark. */
function isCleanStop(scan: Scan, ending: Ending): boolean {
  const isOrderly = scan.marks.has("ready") && (scan.marks.has("finished") || scan.marks.has("stopping"));
  return isOrderly && !scan.marks.has("failed") && (ending.exitCode ?? 0) === 0 && signalOf(ending) === null;
}

function noFailure(scan: Scan, ending: Ending): Diagnosis {
  const evidence = scan.marks.get("finished") ?? scan.marks.get("ready") ?? scan.lastShards ?? scan.last;
  const { port, shardsDone, shardsTotal } = scan.context;
  const isReady = scan.marks.has("ready");
  const values = isReady ? { port } : { shardsDone, shardsTotal };
  return {
    cause: "NO_FAILURE",
    summary: isReady ? "nothing failed: the server came up" : stillStarting(ending),
    ...placeIn(evidence),
    change: null,
    values: Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    retryable: true,
  };
}

function stillStarting(ending: Ending): string {
  return ending.exitCode === 0
    ? "it ended with code 0 before it was up"
    : "nothing failed: the server is still starting";
}

function byKernel({ line, ...proof }: KernelProof): Diagnosis {
  return { ...proof, evidence: line, logLine: null, place: "kernel" };
}

/** No line tells: what the exit itself tells. */
function byEnding(scan: Scan, ending: Ending, kernel: DiagnosisInput["kernel"]): Diagnosis | null {
  const signal = signalOf(ending);
  const row = LIFE_ENDINGS.find((one) => one.holds({ signal, scan, isKernelInnocent: kernel !== undefined }));
  if (row === undefined) return null;
  return {
    cause: row.cause,
    summary: row.summary,
    ...placeIn(row.evidence(scan)),
    change: row.change,
    values: {},
    retryable: row.retryable,
  };
}

/** The first exception that is no wrapper, in its own words; without any, how it ended and no guess why. */
function unknown(scan: Scan, ending: Ending): Diagnosis {
  const exception = scan.exceptions[0];
  const told = exception ?? scan.wrapper ?? scan.marks.get("failed") ?? null;
  const source = exception?.source ?? null;
  return {
    cause: "UNKNOWN",
    summary:
      told === null
        ? `vLLM ended (${endedBy(ending)}) without saying why`
        : SAYS_NOTHING.test(told.line.text)
          ? "a process of vLLM ended without saying why: it crashed, or was killed from outside"
          : `vLLM failed with: ${`${told.line.text.trim()}${source === null ? "" : `, raised by ${source}`}`.slice(0, 300)}`,
    ...placeIn(told ?? scan.last),
    change: null,
    values: {},
    retryable: false,
  };
}

/** Wrappers around what stands elsewhere; where nothing does, a process was gone before it could say anything. */
const SAYS_NOTHING = /^(?:EngineCore|WorkerProc) failed to start|Engine core initialization failed/;

function endedBy(ending: Ending): string {
  const signal = signalOf(ending);
  return signal === null ? `code ${String(ending.exitCode ?? "unknown")}` : `signal ${String(signal)}`;
}

function placeIn(seen: SeenLine | null | undefined): Pick<Diagnosis, "evidence" | "logLine" | "place"> {
  if (seen === null || seen === undefined) return { evidence: null, logLine: null, place: null };
  return { evidence: seen.line.raw, logLine: seen.lineNumber, place: seen.line.place };
}

function rankOf(place: string | null): { readonly rank?: number } {
  const rank = /^worker (\d+)$/.exec(place ?? "")?.[1];
  return rank === undefined ? {} : { rank: Number(rank) };
}
