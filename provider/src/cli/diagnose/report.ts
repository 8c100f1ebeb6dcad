import type { Diagnosis } from "../../core/diagnose";
import { proofText } from "../../core/proof-text";
import { wrapText } from "../../core/wrap-text";

const COLUMNS = 80;
const LABEL_WIDTH = 10;

/** The object that `--json` promises. */
export function asJson({ cause, summary, evidence, logLine, change, values, retryable }: Diagnosis): string {
  const proof = evidence === null || logLine === null ? null : { line: logLine, text: evidence };
  const failure = cause !== "NO_FAILURE";
  return `${JSON.stringify({ failure, code: cause, cause: summary, evidence: proof, change, values, retryable })}\n`;
}

/** For reading on a terminal of 80 columns. */
export function asText(diagnosis: Diagnosis): string {
  const { cause, summary, change } = diagnosis;
  const isFailure = cause !== "NO_FAILURE";
  const rows: readonly (readonly [label: string, text: string | null])[] = [
    ["failure", isFailure ? cause : "none"],
    ["cause", summary],
    ["evidence", evidenceText(diagnosis)],
    ["change", isFailure ? (change ?? "not known") : null],
    ["values", valuesText(diagnosis)],
    ["retry", isFailure ? retryText(diagnosis) : null],
  ];
  return rows
    .flatMap(([label, text]) =>
      text === null
        ? []
        : [
            `${wrapText(`${`${label}:`.padEnd(LABEL_WIDTH)}${text}`, { width: COLUMNS, indent: LABEL_WIDTH })}\n`,
          ],
    )
    .join("");
}

function retryText({ cause, retryable }: Diagnosis): string {
  if (retryable) return "can help";
  return cause === "UNKNOWN" ? "not known" : "will not help";
}

function evidenceText({ evidence, logLine, place }: Diagnosis): string | null {
  if (evidence === null) return null;
  const where = [
    ...(place === null ? [] : [place]),
    ...(logLine === null ? [] : [`log line ${String(logLine)}`]),
  ];
  return `${proofText(evidence)}   (${where.join(", ")})`;
}

function valuesText({ values }: Diagnosis): string | null {
  const pairs = Object.entries(values).map(([name, value]) => `${name} = ${String(value)}`);
  return pairs.length === 0 ? null : pairs.join(", ");
}
