import { surveyFacts } from "../../core/doctor";
import type { Finding } from "../../core/finding";
import type { HostSurvey } from "../../core/observed-survey";
import { proofText } from "../../core/proof-text";
import { wrapText } from "../../core/wrap-text";

const COLUMNS = 80;
const LABEL_WIDTH = 12;
const PART_WIDTH = 10;

/** The object that `--json` promises. */
export function asJson(survey: HostSurvey, findings: readonly Finding[]): string {
  const { machine, executable, hubClient, missingTools, managers, servers } = survey;
  const told = {
    host: machine.host,
    gpus: machine.gpus,
    gpuError: machine.gpuError,
    vllm: executable.found ? { path: executable.path, version: executable.version } : null,
    hubClient,
    missingTools,
    managers,
    servers: servers.map(({ serverId, server }) => ({
      serverId,
      name: server?.owner?.name ?? null,
      project: server?.owner?.project ?? null,
      stack: server?.owner?.stack ?? null,
      status: server?.status ?? null,
      listen: server?.launch?.listen ?? null,
      gpuUuids: server?.launch?.gpuUuids ?? [],
      manager: server?.manager ?? null,
      logPath: server?.logPath ?? null,
    })),
    findings: findings.map(({ severity, code, summary, evidence = null, change = null }) => ({
      ...{ severity, code, summary, evidence, change },
    })),
  };
  return `${JSON.stringify(told)}\n`;
}

/** For reading on a terminal of 80 columns. */
export function asText(survey: HostSurvey, findings: readonly Finding[]): string {
  const facts = surveyFacts(survey).map(({ label, text }) =>
    wrapped(`${label}:`.padEnd(LABEL_WIDTH) + text, LABEL_WIDTH),
  );
  const told = findings.length === 0 ? ["nothing speaks against a start"] : findings.flatMap(findingLines);
  return `${[...facts, "", ...told].join("\n")}\n`;
}

function findingLines({ severity, summary, evidence, change }: Finding): readonly string[] {
  const parts: readonly (readonly [label: string, text: string | undefined])[] = [
    ["  proof:", evidence === undefined ? undefined : proofText(evidence)],
    ["  change:", change],
  ];
  return [
    wrapped(`${severity}: ${summary}`, 2),
    ...parts.flatMap(([label, text]) =>
      text === undefined ? [] : [wrapped(label.padEnd(PART_WIDTH) + text, PART_WIDTH)],
    ),
  ];
}

function wrapped(text: string, indent: number): string {
  return wrapText(text, { width: COLUMNS, indent });
}
