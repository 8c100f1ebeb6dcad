import type { Finding } from "../finding";
import type { FINDINGS } from "../finding-codes";
import type { GpuSeen, Machine } from "../observed";
import type { GpuCondition } from "../observed-gpu";
import { gpuList, gpusNamed } from "./gpu-words";
import { xidFindings } from "./gpu-xids";

interface FaultRow {
  readonly code: keyof typeof FINDINGS;
  readonly holds: (condition: GpuCondition) => boolean;
  /** What follows the names of the GPUs. */
  readonly words: string;
  readonly change: (list: string) => string;
}

const reset = (list: string): string =>
  `on the host, when nobody computes there: sudo nvidia-smi -i ${list} --gpu-reset   (or other gpus)`;

/** Source: NVIDIA, GPU Memory Error Management: which fault takes a reset, and which another GPU. */
const FAULTS: readonly FaultRow[] = [
  {
    code: "GPU_REPAIR_FAILED",
    holds: ({ hasRepairFailed }) => hasRepairFailed === true,
    words: "could not replace memory that fails: the GPU itself has to be replaced",
    change: () => "other gpus   (and a replacement from the vendor)",
  },
  {
    code: "GPU_REPAIR_PENDING",
    holds: ({ isRepairPending }) => isRepairPending === true,
    words: "replaces memory that fails at the next reset, and fails with it until then",
    change: reset,
  },
  {
    code: "GPU_MEMORY_FAULT",
    // A repair that failed or waits has the same cause, and says more.
    holds: ({ uncorrectedErrors, isRepairPending, hasRepairFailed }) =>
      (uncorrectedErrors ?? 0) > 0 && isRepairPending !== true && hasRepairFailed !== true,
    words: "counted memory errors that ECC could not correct since the driver was loaded",
    change: reset,
  },
];

/** Hardware that fails, of these GPUs. */
export function gpuFaultFindings(gpus: readonly GpuSeen[], machine: Machine): readonly Finding[] {
  const ofMemory = FAULTS.flatMap((row) => {
    const faulty = gpus.filter(({ condition }) => condition !== null && row.holds(condition));
    return faulty.length === 0 ? [] : [fault(row, faulty)];
  });
  return [...ofMemory, ...xidFindings(gpus, machine), ...troubles(gpus, machine)];
}

function fault({ code, words, change }: FaultRow, gpus: readonly GpuSeen[]): Finding {
  const counts = gpus.map(({ condition }) => String(condition?.uncorrectedErrors ?? "?")).join(", ");
  return {
    severity: "warning",
    code,
    summary: `${gpusNamed(gpus)} ${words}`,
    evidence: `uncorrected errors: ${counts}`,
    path: "gpus",
    change: change(gpuList(gpus)),
  };
}

/** Where GPUs are missing it is the evidence for that. */
function troubles(gpus: readonly GpuSeen[], { gpuError }: Machine): readonly Finding[] {
  if (gpuError === null || gpus.length === 0) return [];
  const summary = `nvidia-smi complains beside the GPUs that it lists: ${gpuError}`;
  return [{ severity: "warning", code: "GPU_TROUBLE", summary, path: "gpus" }];
}
