import { derivedOutputs } from "./derived-outputs";
import { kvCacheDtypeOf } from "./kv-cache-granted";
import { driftLine, type Drift } from "./drift";
import type { JsonValue } from "./json";
import type { Observed } from "./observed";
import type { ServerOutputs } from "./server-outputs";
import type { Spec } from "./spec";

/** @param drift how the host is not as the state believes; [] right after a converge, which is the truth by definition. */
export function serverOutputs(spec: Spec, observed: Observed, drift: readonly Drift[]): ServerOutputs {
  const { server } = observed;
  // After an automatic restart it is the proof of an earlier process of the same launch.
  const { ready } = server;
  const found = observed.checkpoint?.found === true ? (observed.checkpoint.revision ?? null) : null;
  return {
    modelRevision: found,
    ...derivedOutputs(spec),
    modelBytes: observed.checkpoint?.found === true ? observed.checkpoint.weightBytes : null,
    modelPath: server.launch?.modelPath ?? null,
    configHash: server.launch?.fingerprint ?? null,
    vllmVersion: server.launch?.vllmVersion ?? installedVersion(observed),
    resolvedKvCacheDtype: kvCacheDtypeOf(ready),
    maxModelLen: ready?.maxModelLen ?? null,
    gpuUuids: server.launch?.gpuUuids ?? [],
    logPath: server.logPath,
    generation: server.generation,
    restarts: server.restarts,
    status: server.status,
    drift: drift.map(driftLine),
    startedAt: server.startedAt,
    startDurationSeconds: ready?.startSeconds ?? null,
    pid: server.leader?.pid ?? null,
    bootId: server.leader === null ? null : observed.host.bootId,
    manager: server.manager,
    serviceName: server.unit?.name ?? null,
    startsOnBoot: server.unit?.isEnabled ?? false,
  };
}

function installedVersion({ executable }: Observed): string | null {
  return executable?.found === true ? executable.version : null;
}

/** The same as plain JSON, for the wire. */
export function toWire(outputs: ServerOutputs): Readonly<Record<string, JsonValue>> {
  return { ...outputs };
}
