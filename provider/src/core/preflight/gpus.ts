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
  return [...missing, notFree(holders(taken).join("; "))];
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
  return [notFree([found, ...holders(taken)].join("; "), evidence)];
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

/** Who has them; the GPUs of one holder are told together. */
function holders(taken: readonly GpuSeen[]): readonly string[] {
  const byHolder = new Map<string, GpuSeen[]>();
  for (const gpu of taken) {
    const holder = holderOf(gpu);
    byHolder.set(holder, [...(byHolder.get(holder) ?? []), gpu]);
  }
  return [...byHolder].map(([holder, gpus]) => {
    if (gpus.length > 1) return `GPUs ${gpus.map(({ index }) => index).join(", ")} are ${holder}`;
    return gpus.map(({ index, uuid }) => `GPU ${String(index)} (${uuid}) is ${holder}`).join();
  });
}

function holderOf({ processes: [holder], reservedBy, memoryUsedMib }: GpuSeen): string {
  if (reservedBy !== null) return `held by the server ${reservedBy} of this tool`;
  if (holder === undefined)
    return `taken by a process that cannot be seen: ${String(memoryUsedMib)} MiB in use`;
  return `held by process ${String(holder.pid)} of ${holder.user ?? "an unknown user"}: ${holder.command ?? "?"}`;
}
