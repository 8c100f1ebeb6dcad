import type { Report } from "./live-start";
import { heedingCancel } from "./pulumi/cancellation";

/** At its first ^C the CLI warns of orphaned resources, should another one follow. */
const NOTHING_LOST = "^C again orphans nothing";
const AGAIN = {
  up: `${NOTHING_LOST}: the host goes on by itself, and the next \`pulumi up\` takes it up`,
  destroy: `${NOTHING_LOST}: the stop is cut off where it is, and the next \`pulumi destroy\` goes on with it`,
} as const;

/** Does the work with a report that, from the first ^C on, says what another one does: once whole, and before all that passes. */
export async function sayingHowToLeave<T>(
  verb: keyof typeof AGAIN,
  report: Report,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  let isCancelled = false;
  const onCancel = (): void => {
    isCancelled = true;
    report.info(`${AGAIN[verb]} (after \`pulumi cancel\`, where the stack is locked)`);
  };
  const progress = (text: string): void => {
    report.progress(isCancelled ? `${NOTHING_LOST}; ${text}` : text);
  };
  return heedingCancel(onCancel, () => work({ ...report, progress }));
}
