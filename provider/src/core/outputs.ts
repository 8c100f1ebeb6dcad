import { derivedOutputs } from "./derived-outputs";
import { driftOf } from "./drift";
import type { JsonValue } from "./json";
import type { Observed } from "./observed";
import type { ServerOutputs } from "./server-outputs";
import type { Spec } from "./spec";

/**
 * @param expectedHash the declaration this state believes in; null right after a converge, which is the truth by definition.
 * @param claimId the resource this state believes in, likewise
 */
export function serverOutputs(
  spec: Spec,
  observed: Observed,
  expectedHash: string | null,
  claimId: string | null = null,
): ServerOutputs {
  const { server } = observed;
  // After an automatic restart it is the proof of an earlier process of the same launch.
  const { ready } = server;
  return {
    ...derivedOutputs(spec),
    modelPath: server.launch?.modelPath ?? null,
    configHash: server.launch?.fingerprint ?? null,
    vllmVersion: observed.executable?.found === true ? observed.executable.version : null,
    resolvedKvCacheDtype: ready?.cacheConfig["cache_dtype"] ?? null,
    maxModelLen: ready?.maxModelLen ?? null,
    gpuUuids: server.launch?.gpuUuids ?? [],
    logPath: server.logPath,
    generation: server.generation,
    restarts: server.restarts,
    status: server.status,
    drift: driftOf(observed, expectedHash, claimId),
    startedAt: server.startedAt,
    startDurationSeconds: ready?.startSeconds ?? null,
    pid: server.leader?.pid ?? null,
    bootId: server.leader === null ? null : observed.host.bootId,
    manager: server.manager,
    serviceName: server.unit?.name ?? null,
    startsOnBoot: server.unit?.isEnabled ?? false,
  };
}

/** The same as plain JSON, for the wire. */
export function toWire(outputs: ServerOutputs): Readonly<Record<string, JsonValue>> {
  return { ...outputs };
}
