import type { Finding } from "./core/finding";
import type { Report } from "./live-start";

/** Tells warnings and notes on the resource's own line, each once, however often the same is found in one operation. */
export class Heed {
  readonly #report: Pick<Report, "info" | "warning">;
  readonly #told = new Set<string>();

  constructor(report: Pick<Report, "info" | "warning">) {
    this.#report = report;
  }

  /** What is an error has ended the operation, or is no finding of this start. */
  tell(findings: readonly Finding[]): void {
    for (const finding of findings) {
      const text = words(finding);
      if (finding.severity === "error" || this.#told.has(text)) continue;
      this.#told.add(text);
      if (finding.severity === "warning") this.#report.warning(text);
      else this.#report.info(text);
    }
  }
}

function words({ summary, evidence, change }: Finding): string {
  const proof = evidence === undefined ? "" : ` (${evidence})`;
  return `${summary}${proof}${change === undefined ? "" : `; change: ${change}`}`;
}
