import type { Finding } from "../finding";
import type { HostSurvey } from "../observed-survey";
import type { Moment } from "../preflight";
import { machineFindings } from "../preflight/machine";
import type { Severity } from "../severity";

const WORST_FIRST: readonly Severity[] = ["error", "warning", "note"];

/** What speaks against any start on that host, the worst first. */
export function surveyFindings({ machine }: HostSurvey, asked: Moment): readonly Finding[] {
  const found = [...driverFindings(machine), ...machineFindings(machine, machine.gpus ?? [], asked)];
  return WORST_FIRST.flatMap((severity) => found.filter((finding) => finding.severity === severity));
}

/** Without nvidia-smi the host may be meant for the CPU. */
function driverFindings({ gpus, gpuError }: HostSurvey["machine"]): readonly Finding[] {
  if (gpuError === null || (gpus !== null && gpus.length > 0)) return [];
  return [
    {
      severity: "error",
      code: "GPU_NOT_FOUND",
      summary: "no GPU can be seen: nvidia-smi is there, and tells of none",
      evidence: gpuError,
      change: "on the host: the NVIDIA driver   (nvidia-smi, dmesg)",
    },
  ];
}
