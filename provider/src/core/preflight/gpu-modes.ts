import type { Finding } from "../finding";
import type { GpuSeen } from "../observed";
import type { GpuCondition } from "../observed-gpu";
import { be, gpuList, gpusNamed } from "./gpu-words";

/** Modes that somebody has put GPUs into. */
export function gpuModeFindings(gpus: readonly GpuSeen[]): readonly Finding[] {
  const those = (isSo: (condition: GpuCondition) => boolean): readonly GpuSeen[] =>
    gpus.filter(({ condition }) => condition !== null && isSo(condition));
  return [
    ...prohibited(those(({ computeMode }) => computeMode === "Prohibited")),
    ...exclusive(
      gpus.length > 1 ? those(({ computeMode }) => computeMode?.startsWith("Exclusive") === true) : [],
    ),
    ...divided(those(({ isMig }) => isMig === true)),
    ...forgetful(those(({ isPersistent }) => isPersistent === false)),
  ];
}

function prohibited(gpus: readonly GpuSeen[]): readonly Finding[] {
  if (gpus.length === 0) return [];
  return [
    {
      severity: "error",
      code: "GPU_PROHIBITED",
      summary: `${gpusNamed(gpus)} ${be(gpus)} in the compute mode Prohibited, in which nobody may compute there`,
      path: "gpus",
      change: `on the host: sudo nvidia-smi -i ${gpuList(gpus)} -c DEFAULT   (or other gpus)`,
    },
  ];
}

function exclusive(gpus: readonly GpuSeen[]): readonly Finding[] {
  if (gpus.length === 0) return [];
  return [
    {
      severity: "warning",
      code: "GPU_EXCLUSIVE",
      summary: `${gpusNamed(gpus)} ${be(gpus)} in the compute mode Exclusive_Process: a worker that also opens another's GPU, as some ways between GPUs do, fails with "all CUDA-capable devices are busy or unavailable"`,
      path: "gpus",
      change: `on the host: sudo nvidia-smi -i ${gpuList(gpus)} -c DEFAULT`,
    },
  ];
}

function divided(gpus: readonly GpuSeen[]): readonly Finding[] {
  if (gpus.length === 0) return [];
  return [
    {
      severity: "warning",
      code: "GPU_MIG",
      summary: `${gpusNamed(gpus)} ${be(gpus)} divided into MIG instances: a process that is given the whole GPU sees its first instance alone, or none, and one GPU where there are several`,
      path: "gpus",
      change: `on the host: sudo nvidia-smi -i ${gpuList(gpus)} -mig 0   (or other gpus)`,
    },
  ];
}

function forgetful(gpus: readonly GpuSeen[]): readonly Finding[] {
  if (gpus.length === 0) return [];
  return [
    {
      severity: "note",
      code: "GPU_NOT_PERSISTENT",
      summary: `persistence mode of ${gpusNamed(gpus)} is off: the driver loads anew whenever nobody uses the GPU, which takes seconds and forgets what it counted`,
      path: "gpus",
      change: "on the host: sudo systemctl enable --now nvidia-persistenced   (or sudo nvidia-smi -pm 1)",
    },
  ];
}
