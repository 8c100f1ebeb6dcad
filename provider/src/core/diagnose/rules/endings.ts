import type { FailureCause } from "../causes";
import type { Scan, SeenLine } from "../pass";

interface EndingFacts {
  readonly signal: number | null;
  readonly scan: Scan;
  /** The kernel's log of this start was read, and no process was killed for want of memory. */
  readonly isKernelInnocent: boolean;
}

interface LifeEnding {
  readonly cause: FailureCause;
  readonly holds: (facts: EndingFacts) => boolean;
  readonly evidence: (scan: Scan) => SeenLine | null;
  readonly summary: string;
  readonly change: string;
  readonly retryable: boolean;
}

const SIGNALS = { interrupt: 2, kill: 9, terminate: 15 } as const;

/** What is concluded from the exit alone, when no line of the log says anything. In order. */
export const LIFE_ENDINGS: readonly LifeEnding[] = [
  {
    cause: "TERMINATED_BY_SIGNAL",
    holds: ({ signal }) => signal === SIGNALS.terminate || signal === SIGNALS.interrupt,
    evidence: (scan) => scan.marks.get("signal") ?? null,
    summary: "it was ended from outside (SIGTERM or SIGINT)",
    change:
      "host: find who ends it: a probe, a supervisor, or the end of a login session (loginctl enable-linger)",
    retryable: true,
  },
  {
    cause: "TERMINATED_BY_SIGNAL",
    holds: ({ signal, scan, isKernelInnocent }) =>
      isKernelInnocent && scan.exceptions.length === 0 && (signal === SIGNALS.kill || isKillTold(scan)),
    evidence: (scan) => scan.marks.get("failed") ?? null,
    summary: "a process was killed (SIGKILL), and not by the kernel for want of memory",
    change: "host: find who kills it: an operator, systemd-oomd or earlyoom, a supervisor",
    retryable: true,
  },
  {
    cause: "HOST_OOM_KILLED",
    // Only without any exception: old versions kill their own processes after a Python error.
    holds: ({ signal, scan, isKernelInnocent }) =>
      !isKernelInnocent && scan.exceptions.length === 0 && (signal === SIGNALS.kill || isEmptyWrapper(scan)),
    evidence: (scan) => scan.marks.get("failed") ?? null,
    summary: "a process was killed without a word, most likely by the kernel for want of host memory",
    change:
      "host: more memory, or a higher memory limit of the container (dmesg names the process); environment.MAX_JOBS lower; engine.cpuOffloadGb (--cpu-offload-gb) lower",
    retryable: false,
  },
];

const KILL_TOLD = /': -9\b|exit code: -9\b/;

/** Whether vLLM says so of one of its processes. */
function isKillTold(scan: Scan): boolean {
  return [scan.marks.get("failed"), ...scan.sightings].some(
    (seen) => seen !== undefined && KILL_TOLD.test(seen.line.text),
  );
}

/** "Failed core proc(s): {}" and "died unexpectedly" with nothing above them, and no other end told than the kernel's SIGKILL. */
function isEmptyWrapper(scan: Scan): boolean {
  const text = scan.marks.get("failed")?.line.text ?? "";
  const told = /(?:': |exit code: )(-?\d+)/.exec(text)?.[1];
  if (told !== undefined && told !== "-9") return false;
  // A log whose beginning is missing may have had the reason there.
  return (
    scan.marks.has("progress") &&
    scan.sightings.length === 0 &&
    /Engine core initialization failed|died unexpectedly/.test(text)
  );
}
