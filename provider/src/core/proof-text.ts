import { readLogLine } from "./diagnose";

/** Some messages list every architecture vLLM knows, or the whole configuration; what they say stands in front. */
const LONGEST_PROOF = 300;

/** What a line of the log says. Its process, time and file stand in the log; the place of a diagnosis says what of that matters. */
export function proofText(logLine: string): string {
  const text = readLogLine(logLine).text.trim();
  return text.length <= LONGEST_PROOF ? text : `${text.slice(0, LONGEST_PROOF)} ...`;
}
