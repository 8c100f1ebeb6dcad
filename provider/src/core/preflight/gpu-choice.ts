import { isCpuBuild } from "../desired";
import type { GpuSeen, Observed } from "../observed";
import type { Spec } from "../spec";
import { isCpuEnvironment } from "../vllm-source";

/** Memory that a GPU without compute processes may show as used (driver, display, ECC), MiB. */
const IDLE_MIB = 1024;

/** Whether vLLM will use no GPU: none is there and none was declared, or its build is for the CPU. */
export function needsNoGpu(spec: Spec, { gpus, executable }: Observed): boolean {
  if (spec.gpus.kind !== "derived") return false;
  const version = executable?.found === true ? executable.version : null;
  return gpus === null || isCpuBuild(version) || isCpuEnvironment(spec.vllm);
}

/** The GPU that an id of `gpus` names: its index, or its UUID, of which a beginning that no other has is enough. */
export function gpuNamed(id: number | string, gpus: readonly GpuSeen[]): GpuSeen | undefined {
  const text = String(id);
  if (/^\d+$/.test(text)) return gpus.find((gpu) => gpu.index === Number(text));
  const found = gpus.filter((gpu) => gpu.uuid.startsWith(text));
  return found.length === 1 ? found[0] : undefined;
}

/** Free, or held by this very server, which is stopped first. */
export function isFreeFor(gpu: GpuSeen, serverId: string | null): boolean {
  if (gpu.reservedBy !== null) return gpu.reservedBy === serverId;
  if (gpu.processes.length > 0)
    return gpu.processes.every((process) => process.serverId !== null && process.serverId === serverId);
  return gpu.memoryUsedMib <= IDLE_MIB;
}

/**
 * The GPUs that the start will get, as the agent is going to choose them (remote/agent/gpu_choice.py): those it ran on before come
 * first. []: none, or that cannot be told.
 */
export function gpusToUse(spec: Spec, observed: Observed): readonly GpuSeen[] {
  const { gpus, server } = observed;
  if (gpus === null || needsNoGpu(spec, observed)) return [];
  if (spec.gpus.kind === "list")
    return spec.gpus.ids.map((id) => gpuNamed(id, gpus)).filter((gpu) => gpu !== undefined);
  const before = server.launch?.gpuUuids ?? [];
  const free = gpus.filter((gpu) => isFreeFor(gpu, server.owner?.serverId ?? null));
  const isPreferred = ({ uuid }: GpuSeen): boolean => before.includes(uuid);
  const order = [...free.filter(isPreferred), ...free.filter((gpu) => !isPreferred(gpu))];
  const { count } = spec.gpus;
  return order.length < count ? [] : order.slice(0, count).sort((one, other) => one.index - other.index);
}
