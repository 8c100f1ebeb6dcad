import { compatibility } from "./compatibility";
import { isCpuBuild } from "./desired";
import { isErrorCode, VllmServerError } from "./errors";
import { modelPlace } from "./model-source";
import type { GpuSeen, Observed, PortSeen } from "./observed";
import type { Spec } from "./spec";
import { isCpuEnvironment } from "./vllm-source";

/** Memory that a GPU without compute processes may show as used (driver, display, ECC), MiB. */
const IDLE_MIB = 1024;

/**
 * What makes the start certain to fail, looked at before anything on the host is touched.
 * Returns the first reason, null when none was seen. A check that cannot be made never blocks, and what is ours to bring there may be missing.
 */
export function preflight(spec: Spec, observed: Observed, server: string): VllmServerError | null {
  return (
    executableProblem(spec, observed, server) ??
    checkpointProblem(spec, observed, server) ??
    portProblem(observed, spec.listen.port, server) ??
    gpuProblem(spec, observed, server) ??
    compatibilityProblem(spec, observed, server)
  );
}

/** The first of what is certain not to go together; desired.ts tells the rest. */
function compatibilityProblem(spec: Spec, observed: Observed, server: string): VllmServerError | null {
  const found = compatibility(spec, observed).find(({ severity }) => severity === "error");
  if (found === undefined || !isErrorCode(found.code)) return null;
  return new VllmServerError({
    ...found,
    code: found.code,
    summary: `Cannot start ${server}: ${found.summary}`,
    retryable: false,
  });
}

function executableProblem(spec: Spec, observed: Observed, server: string): VllmServerError | null {
  if (observed.executable?.found === true || spec.vllm.kind === "environment") return null;
  const reason = observed.executable?.found === false ? observed.executable.reason : "it was not looked for";
  return new VllmServerError({
    code: "VLLM_NOT_FOUND",
    summary: `Cannot start ${server}: no vLLM on the host (${reason})`,
    path: "vllm.executable",
    change:
      spec.vllm.executable === null
        ? 'vllm.executable: "/path/of/venv/bin/vllm"   (or put vllm on the PATH of the login shell)'
        : "vllm.executable",
    retryable: false,
  });
}

function checkpointProblem(spec: Spec, observed: Observed, server: string): VllmServerError | null {
  const checkpoint = observed.checkpoint;
  if (checkpoint === null) return null;
  const isHub = spec.model.kind === "hub";
  const failed = (reason: string): VllmServerError =>
    new VllmServerError({
      code: "CHECKPOINT_NOT_FOUND",
      summary: `Cannot start ${server}: ${reason}`,
      path: modelPlace(spec.model),
      change: isHub
        ? "model.include, or another model.repo   (one with weights that vLLM loads)"
        : "model.path   (a folder on the host with config.json and the weights)",
      retryable: false,
    });
  if (!checkpoint.found)
    return isHub ? null : failed(`no checkpoint at ${checkpoint.path} (${checkpoint.reason})`);
  const loadFormat = spec.engine["loadFormat"] ?? "auto";
  if (checkpoint.weightFiles === 0 && (loadFormat === "auto" || loadFormat === "safetensors")) {
    return failed(`${checkpoint.path} holds no weight files, need *.safetensors, *.bin or *.pt`);
  }
  return null;
}

function portProblem(observed: Observed, port: number, server: string): VllmServerError | null {
  const seen = observed.port;
  if (seen.free || isOurs(observed, seen)) return null;
  return new VllmServerError({
    code: "PORT_IN_USE",
    summary: `Cannot start ${server}: port ${String(port)} is taken by ${portHolder(seen)}`,
    path: "listen.port",
    change:
      seen.serverId === null
        ? "listen.port   (or stop what holds it)"
        : "listen.port   (or stop what holds it; a resource that only got another name keeps its server with the option `aliases`)",
    retryable: false,
  });
}

function isOurs(observed: Observed, seen: Extract<PortSeen, { free: false }>): boolean {
  if (seen.serverId !== null) return seen.serverId === observed.server.owner?.serverId;
  return seen.pid !== null && observed.server.processes.some((process) => process.pid === seen.pid);
}

function portHolder(seen: Extract<PortSeen, { free: false }>): string {
  if (seen.serverId !== null) return `the server ${seen.serverId} of this tool`;
  if (seen.pid === null) return `a process of ${seen.user ?? "another user"} that cannot be seen`;
  return `process ${String(seen.pid)} of ${seen.user ?? "an unknown user"}: ${seen.command ?? "?"}`;
}

function gpuProblem(spec: Spec, observed: Observed, server: string): VllmServerError | null {
  const version = observed.executable?.found === true ? observed.executable.version : null;
  const needsNone = isCpuBuild(version) || isCpuEnvironment(spec.vllm);
  if (spec.gpus.kind === "derived" && (observed.gpus === null || needsNone)) return null;
  if (observed.gpus === null) {
    const why = observed.gpuError ?? "nvidia-smi is not on the host";
    return gpuError(
      "GPU_NOT_FOUND",
      `Cannot start ${server}: GPUs were asked for and none can be seen (${why})`,
    );
  }
  const gpus = observed.gpus;
  const ours = observed.server.owner?.serverId ?? null;
  if (spec.gpus.kind === "list") {
    const chosen = spec.gpus.ids.map((id) => ({
      id,
      gpu: gpus.find((gpu) => gpu.uuid === id || gpu.index === id),
    }));
    const missing = chosen.find(({ gpu }) => gpu === undefined);
    if (missing !== undefined) {
      const known = gpus.map((gpu) => `${String(gpu.index)} ${gpu.uuid}`).join(", ");
      return gpuError(
        "GPU_NOT_FOUND",
        `Cannot start ${server}: no GPU ${String(missing.id)} on the host, it has ${known}`,
      );
    }
    const taken = chosen.flatMap(({ gpu }) => (gpu === undefined || isFreeFor(gpu, ours) ? [] : [gpu]));
    if (taken.length === 0) return null;
    return gpuError("GPUS_NOT_FREE", `Cannot start ${server}: ${taken.map(gpuHolder).join("; ")}`);
  }
  const free = gpus.filter((gpu) => isFreeFor(gpu, ours));
  if (free.length >= spec.gpus.count) return null;
  const taken = gpus.filter((gpu) => !isFreeFor(gpu, ours)).map(gpuHolder);
  const found = `${String(free.length)} of ${String(gpus.length)} GPUs are free, need ${String(spec.gpus.count)}`;
  return gpuError("GPUS_NOT_FREE", `Cannot start ${server}: ${[found, ...taken].join("; ")}`);
}

function gpuError(code: "GPU_NOT_FOUND" | "GPUS_NOT_FREE", summary: string): VllmServerError {
  return new VllmServerError({
    code,
    summary,
    path: "gpus",
    change: "gpus   (or engine.tensorParallelSize, or stop what holds them)",
    retryable: code === "GPUS_NOT_FREE",
  });
}

/** Free, or held by this very server, which is stopped first. */
function isFreeFor(gpu: GpuSeen, serverId: string | null): boolean {
  if (gpu.reservedBy !== null) return gpu.reservedBy === serverId;
  if (gpu.processes.length > 0)
    return gpu.processes.every((process) => process.serverId !== null && process.serverId === serverId);
  return gpu.memoryUsedMib <= IDLE_MIB;
}

function gpuHolder(gpu: GpuSeen): string {
  const where = `GPU ${String(gpu.index)} (${gpu.uuid})`;
  const holder = gpu.processes[0];
  if (gpu.reservedBy !== null) return `${where} is held by the server ${gpu.reservedBy} of this tool`;
  if (holder === undefined)
    return `${where} has ${String(gpu.memoryUsedMib)} MiB in use by a process that cannot be seen`;
  return `${where} is held by process ${String(holder.pid)} of ${holder.user ?? "an unknown user"}: ${holder.command ?? "?"}`;
}
