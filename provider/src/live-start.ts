import { activityWords } from "./core/activity";
import type { VllmServerError } from "./core/errors";
import { startProgress, type StartProgress } from "./core/log-phases";
import type { ReadyRecord } from "./core/observed";
import { progressText } from "./core/progress-text";
import { concurrencyIn, readyWords, type TimeSpent } from "./core/ready-words";
import type { HostSpec } from "./core/spec";
import { logCommand } from "./core/ssh-command";
import { startFailure, type FailedStart } from "./core/start-failure";
import type { AgentEvent, WaitResult } from "./remote/protocol";
import { StartLog } from "./start-log";

/** Where words for the user go: the resource's own line. */
export interface Report {
  /** Passing: replaces what was shown before. */
  progress(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  /** Whether the engine that asked for this operation still answers. */
  isReachable(): Promise<boolean>;
}

const STEP_TEXTS: Readonly<Record<string, string>> = {
  claim: "claiming the server's place on the host",
  install: "looking at vLLM's environment",
  fetch: "looking at the checkpoint's files",
  overlay: "patching the checkpoint's config",
  stop: "stopping what runs",
  start: "starting vLLM",
  wait: "waiting for the first answer",
};

/** Follows one apply as its events come in: progress for the user, the log for a diagnosis. */
export class LiveStart {
  private readonly log = new StartLog();
  private progress: StartProgress | null = null;
  private step: string | null = null;
  private concurrency: number | null = null;

  private readonly bytesDone = new Map<string, number>();

  constructor(
    private readonly report: Report,
    /** "vLLM 0.33.0" */
    private readonly installed = "vLLM",
  ) {}

  /** How far its long work was seen to come, in bytes; 0: it has none, or does not tell. */
  get advance(): number {
    return [...this.bytesDone.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  take(event: AgentEvent): void {
    switch (event.event) {
      case "step": {
        const text = STEP_TEXTS[event.kind];
        this.step = event.kind;
        if (event.state === "begin" && text !== undefined) this.report.progress(text);
        return;
      }
      case "waiting":
        this.report.progress(event.reason);
        return;
      case "quiet":
        this.report.progress(`${this.progress?.text ?? "starting"}, ${activityWords(event.activity)}`);
        return;
      case "note":
        this.report.info(event.text);
        return;
      case "progress":
        this.bytesDone.set(event.phase, Math.max(this.bytesDone.get(event.phase) ?? 0, event.bytesDone ?? 0));
        this.report.progress(progressText(event, this.step === "install" ? this.installed : null));
        return;
      case "log":
        this.log.add(event.first, event.lines);
        this.follow(event.lines);
        return;
      case "hello":
      case "alive":
      case "generation":
      case "result":
      case "error":
        return;
      default:
        return event satisfies never;
    }
  }

  /** The line that ends a start which went well. */
  summary(ready: ReadyRecord, spent: TimeSpent): string {
    return readyWords(ready, spent, this.concurrency);
  }

  failure(facts: {
    readonly wait: Exclude<WaitResult, { outcome: "ready" }>;
    readonly server: string;
    readonly host: HostSpec;
    readonly port: number;
    readonly vllmVersion: string | null;
    readonly logPath: string | null;
  }): VllmServerError {
    return startFailure({
      server: facts.server,
      outcome: outcomeOf(facts.wait, this.progress),
      log: this.log.text(),
      kernel: "kernel" in facts.wait ? facts.wait.kernel : undefined,
      port: facts.port,
      vllmVersion: facts.vllmVersion,
      logCommand: facts.logPath === null ? null : logCommand(facts.host, facts.logPath),
    });
  }

  private follow(lines: readonly string[]): void {
    const before = this.progress;
    for (const line of lines) {
      this.progress = startProgress(this.progress, line);
      this.concurrency = concurrencyIn(line) ?? this.concurrency;
    }
    if (this.progress !== null && this.progress.text !== before?.text)
      this.report.progress(this.progress.text);
  }
}

function outcomeOf(
  wait: Exclude<WaitResult, { outcome: "ready" }>,
  progress: StartProgress | null,
): FailedStart["outcome"] {
  switch (wait.outcome) {
    case "exited":
      return { kind: "exited", code: wait.code, signal: wait.signal };
    case "fatal":
      return { kind: "fatal", line: wait.line };
    case "timeout": {
      const { outcome: kind, ...how } = wait;
      return { kind, ...how, progress };
    }
    case "hung": {
      const { outcome: kind, ...how } = wait;
      return { kind, ...how, progress };
    }
    case "port-lost": {
      const who =
        wait.winnerPid === null ? "a process that cannot be seen" : `process ${String(wait.winnerPid)}`;
      return {
        kind: "port-lost",
        winner: `${who} of ${wait.winnerUser ?? "an unknown user"}: ${wait.winnerCommand ?? "?"}`,
      };
    }
    case "wrong-answer":
      return { kind: "wrong-answer", detail: wait.detail };
    case "kv-cache-dtype-lost": {
      const { outcome: kind, wanted, dtype, evidence, place } = wait;
      return { kind, wanted, dtype, evidence, place };
    }
    default:
      return wait satisfies never;
  }
}
