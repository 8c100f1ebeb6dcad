import type { GpuSeen } from "../observed";

/** "GPU 3", "GPUs 0, 1 and 7" */
export function gpusNamed(gpus: readonly GpuSeen[]): string {
  const indexes = gpus.map(({ index }) => String(index));
  const last = indexes.at(-1) ?? "";
  return indexes.length === 1 ? `GPU ${last}` : `GPUs ${indexes.slice(0, -1).join(", ")} and ${last}`;
}

/** As nvidia-smi -i takes it: "3", "0,1,7" */
export function gpuList(gpus: readonly GpuSeen[]): string {
  return gpus.map(({ index }) => String(index)).join(",");
}

/** "is", "are" */
export function be(gpus: readonly GpuSeen[]): string {
  return gpus.length === 1 ? "is" : "are";
}
