import { z } from "zod";
import { durationText, rateText } from "./amount-text";

/** What the processes of a start were seen to do in the last seconds. Crosses an edge: parsed in remote/, trusted afterwards. */
export const activitySchema = z.object({
  /** Since the last line of the log that tells of progress. */
  quietSeconds: z.number(),
  /** For so long there was no sign of life at all; 0: there is one now. */
  stillSeconds: z.number(),
  /** For so long processor time has been the only one; 0: it is not. */
  spinningSeconds: z.number(),
  cpuCores: z.number(),
  /** From files, page cache or disk; null: the kernel does not tell. */
  readBytesPerSecond: z.number().nullable(),
  writeBytesPerSecond: z.number().nullable(),
});
export type Activity = z.infer<typeof activitySchema>;

/** Below this a rate is what every process does now and then. */
const LEAST_RATE = 64 * 1024;
const LEAST_CORES = 0.05;

/** "no new line for 3 min, reading 1.2 GB/s": what tells a start that is slow from one that hangs. */
export function activityWords(activity: Activity): string {
  return `no new line for ${durationText(activity.quietSeconds)}, ${doing(activity)}`;
}

function doing(activity: Activity): string {
  const { stillSeconds, spinningSeconds, cpuCores } = activity;
  if (stillSeconds > 0) return `no sign of life for ${durationText(stillSeconds)}`;
  const cpu = cpuCores >= LEAST_CORES ? [`${coresText(cpuCores)} busy`] : [];
  if (spinningSeconds > 0)
    return `${cpu[0] ?? "processes come and go"}, nothing read or written for ${durationText(spinningSeconds)}`;
  const words = [
    ...rated("reading", activity.readBytesPerSecond),
    ...rated("writing", activity.writeBytesPerSecond),
    ...cpu,
  ];
  return words.length === 0 ? "at work" : words.join(", ");
}

function rated(verb: string, rate: number | null): readonly string[] {
  return rate === null || rate < LEAST_RATE ? [] : [`${verb} ${rateText(rate)}`];
}

/** "3.2 cores" */
function coresText(cores: number): string {
  const text = cores < 9.95 ? cores.toFixed(1) : String(Math.round(cores));
  return text === "1.0" ? "1 core" : `${text} cores`;
}
