import { durationText, rateText, sizesText } from "./amount-text";

/** How far long work on a host is; null: it does not tell. */
export interface HowFar {
  readonly phase: "install" | "download" | "verify";
  /** One short line: what the numbers do not tell. */
  readonly text: string;
  /** Files or packages. */
  readonly done: number | null;
  readonly total: number | null;
  readonly bytesDone: number | null;
  readonly bytesTotal: number | null;
  readonly bytesPerSecond: number | null;
  readonly secondsLeft: number | null;
}

const VERBS = { install: "installing", download: "downloading", verify: "verifying" } as const;

/**
 * "downloading 37/119 files, 210.4/540.1 GB, 1.1 GB/s, 5 min left"; "installing vLLM 0.33.0: resolving packages".
 * @param what is installed, for the line to say so; null: a tool that is needed on the way.
 */
export function progressText(event: HowFar, what: string | null): string {
  const verb = VERBS[event.phase];
  const numbers = [
    counted(event),
    event.bytesDone === null || event.bytesTotal === null
      ? []
      : [sizesText(event.bytesDone, event.bytesTotal)],
    event.bytesPerSecond === null ? [] : [rateText(event.bytesPerSecond)],
    event.secondsLeft === null ? [] : [`${durationText(event.secondsLeft)} left`],
  ]
    .flat()
    .join(", ");
  if (event.phase === "install") {
    const text = [event.text, numbers].filter((part) => part !== "").join(", ");
    return what === null ? text : `${verb} ${what}: ${text}`;
  }
  if (numbers === "") return event.text === "" ? verb : event.text;
  return `${verb} ${numbers}`;
}

function counted({ phase, done, total }: HowFar): readonly string[] {
  if (done === null || total === null) return [];
  return [`${String(done)}/${String(total)} ${phase === "install" ? "packages" : "files"}`];
}
