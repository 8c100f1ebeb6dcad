import { patchOf } from "./checkpoint-patch";
import type { PatchResult } from "./config-patch";
import { servedModelNames } from "./derived-outputs";
import { desiredWarnings } from "./desired-warnings";
import { VllmServerError } from "./errors";
import type { Remark } from "./finding";
import { fingerprintOf, overlayName } from "./identity";
import type { JsonObject } from "./json";
import { chooseKvCacheFlag } from "./kv-cache-flag";
import { autoInLayers } from "./kv-cache-granted";
import { situationOf } from "./kv-cache-situation";
import { kvCacheWishOf } from "./kv-cache-wish";
import { checkpointWish, modelLabel, modelPlace } from "./model-source";
import type { Observed } from "./observed";
import type { Spec } from "./spec";
import type { Launch, LaunchGpus, OverlayStep } from "./step";
import { renderServeConfig, serverEnvironment, type FlagKinds } from "./vllm-command";
import { executableWish } from "./vllm-source";

/** What should run, said so exactly that two of them can be compared: the launch, and the overlay it needs. */
export interface Desired {
  readonly launch: Launch;
  /** null: the checkpoint is served as it is. */
  readonly overlay: OverlayStep | null;
  readonly warnings: readonly Remark[];
  /** The type that attention layers take where vLLM says "auto"; null: the model's own. */
  readonly kvCacheAuto: string | null;
}

/** Seconds a ready server may finish its running requests in when it is stopped, unless extraArgs["shutdown-timeout"] says another. */
const DRAIN_SECONDS = 20;

/**
 * Spec + host facts -> what should run. Pure; the host must have been seen with executable and checkpoint (preflight/ checks).
 * Fails with CONFIG_PATCH_REJECTED.
 */
export function desiredState(spec: Spec, observed: Observed, flags: FlagKinds, urn: string): Desired {
  const executable = observed.executable;
  const checkpoint = observed.checkpoint;
  if (executable?.found !== true || checkpoint?.found !== true) {
    throw new Error("desiredState needs a host that passed preflight");
  }
  const patch = patched(spec, checkpoint.files);
  const overlay = overlayFor(patch, checkpoint.path, checkpoint.files);
  const modelPath =
    overlay === null ? checkpoint.path : `${observed.host.stateRoot}/overlays/${overlay.name}`;
  // As vLLM will read it: configOverrides can say another dtype.
  const files = { ...checkpoint.files, ...patch.files };
  const kvWish = kvCacheWishOf(spec, files, executable.version, observed.gpus ?? []);
  const kvCache = chooseKvCacheFlag(kvWish);
  const drainSeconds = drainSecondsOf(spec);
  const config = (fingerprint: string | null): string =>
    renderServeConfig(spec, {
      kvCacheDtypeFlag: kvCache.flag,
      servedModelNames: servedModelNames(spec),
      fingerprint,
      shutdownTimeoutSeconds: flags.has("shutdown-timeout") ? drainSeconds : null,
      flagKinds: flags,
      home: observed.host.home,
    });
  const environment = serverEnvironment(spec, { home: observed.host.home });
  const gpus = launchGpus(spec, observed, executable.version);
  const fingerprint = fingerprintOf({
    executable: executable.path,
    modelPath,
    config: config(null),
    environment: environment.environment,
    gpus: gpus.kind === "count" ? { kind: "count", count: gpus.count } : gpus,
    selection: selectionOf(spec),
  });
  const launch: Launch = {
    fingerprint,
    executable: executable.path,
    vllmVersion: executable.version,
    executableWish: executableWish(spec.vllm),
    checkpointWish: checkpointWish(spec.model, urn),
    modelPath,
    configYaml: config(flags.has("fingerprint-value") ? fingerprint : null),
    environment: environment.environment,
    secretEnvironment: environment.secretEnvironment,
    gpus,
    // Both came with the same change. Source: vllm-project/vllm pull request 45026.
    gpuNames: flags.has("device-ids") ? "uuid" : "index",
    listen: spec.listen,
    servedModelNames: servedModelNames(spec),
    manager: spec.service.manager,
    sudo: spec.host.sudo,
    startOnBoot: spec.service.startOnBoot,
    restart: spec.service.restart,
    logs: spec.service.logs,
    drainSeconds,
  };
  return {
    launch,
    overlay,
    warnings: desiredWarnings(spec, patch.warnings, kvCache.warnings),
    kvCacheAuto: autoInLayers(situationOf(kvWish)),
  };
}

/** The same folder with other files in it is another model. */
function selectionOf({ model }: Spec): JsonObject | undefined {
  if (model.kind === "local" || (model.include === null && model.exclude === null)) return undefined;
  return { include: model.include, exclude: model.exclude };
}

type Patched = Extract<PatchResult, { kind: "patched" }>;

function patched(spec: Spec, files: Readonly<Record<string, string | null>>): Patched {
  const result = patchOf(spec, files);
  if (result.kind === "patched") return result;
  const isBrokenFile = result.code === "file-not-json";
  throw new VllmServerError({
    code: "CONFIG_PATCH_REJECTED",
    summary: `Cannot patch the config of ${modelLabel(spec.model)}: ${result.message}`,
    path: isBrokenFile ? modelPlace(spec.model) : result.path,
    change: isBrokenFile
      ? `${modelPlace(spec.model)}   (or repair its ${result.path}: vLLM cannot read it either)`
      : result.path,
    retryable: false,
  });
}

function overlayFor(
  patch: Patched,
  checkpointPath: string,
  before: Readonly<Record<string, string | null>>,
): OverlayStep | null {
  if (Object.keys(patch.files).length === 0) return null;
  const record: JsonObject = {
    checkpoint: checkpointPath,
    changes: patch.changes.map((change) => ({
      file: change.file,
      pointer: change.pointer,
      from: change.from ?? null,
      to: change.to ?? null,
    })),
    untouched: Object.keys(before).filter((file) => before[file] !== null && !(file in patch.files)),
  };
  return {
    kind: "overlay",
    name: overlayName(checkpointPath, patch.files),
    checkpointPath,
    files: patch.files,
    record,
  };
}

export function drainSecondsOf(spec: Spec): number {
  const given = spec.extraArgs["shutdown-timeout"];
  return typeof given === "number" && given > 0 ? given : DRAIN_SECONDS;
}

/** A CPU build or a host without nvidia-smi has no GPUs to choose; elsewhere the ones it ran on before come first. */
function launchGpus(spec: Spec, observed: Observed, version: string | null): LaunchGpus {
  const wish = spec.gpus;
  if (wish.kind === "list") return { kind: "list", ids: wish.ids };
  if (wish.kind === "derived" && (observed.gpus === null || isCpuBuild(version))) return { kind: "none" };
  return { kind: "count", count: wish.count, prefer: observed.server.launch?.gpuUuids ?? [] };
}

export function isCpuBuild(version: string | null): boolean {
  return version?.includes("+cpu") === true;
}
