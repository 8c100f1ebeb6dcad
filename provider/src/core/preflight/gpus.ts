import type { ErrorFinding, Finding } from "../finding";
import type { GpuSeen, Observed } from "../observed";
import type { Spec } from "../spec";
import { gpuNamed, isFreeFor, needsNoGpu } from "./gpu-choice";

/** GPUs that are not there, or that somebody else holds. */
export function gpuFindings(spec: Spec, observed: Observed): readonly Finding[] {
  if (needsNoGpu(spec, observed)) return [];
  const { gpus, server } = observed;
  // One that fell off the bus is missing among the others.
  const evidence = observed.gpuError ?? undefined;
  if (gpus === null) {
    const why = evidence ?? "nvidia-smi is not on the host";
    return [notFound(`GPUs were asked for and none can be seen (${why})`)];
  }
  const ours = server.owner?.serverId ?? null;
  if (spec.gpus.kind === "list") return ofList(spec.gpus.ids, gpus, ours, evidence);
  return ofCount(spec.gpus.count, gpus, ours, evidence);
}

function ofList(
  ids: readonly (number | string)[],
  gpus: readonly GpuSeen[],
  ours: string | null,
  evidence: string | undefined,
): readonly Finding[] {
  const known = gpus.map((gpu) => `${String(gpu.index)} ${gpu.uuid}`).join(", ");
  const named = ids.map((id) => ({ id, gpu: gpuNamed(id, gpus) }));
  const missing = named
    .filter(({ gpu }) => gpu === undefined)
    .map(({ id }) => notFound(`no GPU ${String(id)} on the host, it has ${known}`, evidence));
  const taken = named.flatMap(({ gpu }) => (gpu === undefined || isFreeFor(gpu, ours) ? [] : [gpu]));
  if (taken.length === 0) return missing;
  return [...missing, notFree(taken.map(gpuHolder).join("; "))];
}

function ofCount(
  count: number,
  gpus: readonly GpuSeen[],
  ours: string | null,
  evidence: string | undefined,
): readonly Finding[] {
  const taken = gpus.filter((gpu) => !isFreeFor(gpu, ours));
  const free = gpus.length - taken.length;
  if (free >= count) return [];
  const found = `${String(free)} of ${String(gpus.length)} GPUs are free, need ${String(count)}`;
  return [notFree([found, ...taken.map(gpuHolder)].join("; "), evidence)];
}

function notFound(summary: string, evidence?: string): ErrorFinding {
  return { ...gpuProblem(summary, evidence), code: "GPU_NOT_FOUND", retryable: false };
}

function notFree(summary: string, evidence?: string): ErrorFinding {
  return { ...gpuProblem(summary, evidence), code: "GPUS_NOT_FREE", retryable: true };
}

function gpuProblem(summary: string, evidence: string | undefined): Omit<ErrorFinding, "code"> {
  return {
    severity: "error",
    summary,
    evidence,
    path: "gpus",
    change: "gpus   (or engine.tensorParallelSize, or stop what holds them)",
  };
}

function gpuHolder(gpu: GpuSeen): string {
  const where = `GPU ${String(gpu.index)} (${gpu.uuid})`;
  const holder = gpu.processes[0];
  if (gpu.reservedBy !== null) return `${where} is held by the server ${gpu.reservedBy} of this tool`;
  if (holder === undefined)
    return `${where} has ${String(gpu.memoryUsedMib)} MiB in use by a process that cannot be seen`;
  return `${where} is held by process ${String(holder.pid)} of ${holder.user ?? "an unknown user"}: ${holder.command ?? "?"}`;
}
