import { driftOf } from "./drift";
import { drainSecondsOf, type Desired } from "./desired";
import { givenFlags } from "./given-flags";
import { idlePatterns } from "./idle-lines";
import { grantedKvDtypes } from "./kv-cache-granted";
import type { Observed, OwnerRecord, ServerSeen } from "./observed";
import type { ProvisionStep } from "./provision";
import type { ManagerWish, Spec } from "./spec";
import type { Launch, ReturnStep, Step, StopStep, WaitStep } from "./step";

/** GPU memory comes back within seconds of the last process; drivers have been seen to take half a minute. */
const GPU_FREE_SECONDS = 60;

/** Engine and workers need 6 to 8 s after the drain. Source: vLLM 0.32.0, measured. */
const TEARDOWN_SECONDS = 15;

/**
 * What has to happen on the host so that exactly what is desired runs there. Pure: nothing, everything and half there are the
 * same question. An empty list: it already is so.
 * @param parts what a start is made of, to be made complete and right before anything is stopped for it.
 */
export function plan(
  spec: Spec,
  desired: Desired,
  observed: Observed,
  owner: OwnerRecord,
  fatalPatterns: readonly string[],
  parts: readonly ProvisionStep[] = [],
): readonly Step[] {
  const claim = claimSteps(observed, owner);
  const wait = waitStep(spec, desired, fatalPatterns);
  if (runsAsDesired(desired, observed)) {
    return [
      ...claim,
      ...overlayRepair(desired, observed),
      ...policyChange(desired, observed),
      ...(observed.server.status === "ready" ? [] : [wait]),
    ];
  }
  return [
    ...claim,
    ...parts,
    ...(desired.overlay === null ? [] : [desired.overlay]),
    ...(hasSomethingToStop(observed) ? [stopStep(spec, observed)] : []),
    { kind: "start", launch: desired.launch },
    wait,
  ];
}

/** [] where the record is this resource's. The URN too: one that was renamed, or its stack, leaves its old name to others. */
export function claimSteps({ server }: Observed, owner: OwnerRecord): readonly Step[] {
  const isClaimed = server.owner?.claimId === owner.claimId && server.owner.urn === owner.urn;
  return isClaimed ? [] : [{ kind: "claim", owner }];
}

/** Ready or on its way there, with this very declaration. */
function runsAsDesired(desired: Desired, observed: Observed): boolean {
  const { status, launch, secretsMatch, modelPathIntact } = observed.server;
  if (status !== "ready" && status !== "starting") return false;
  return (
    launch?.fingerprint === desired.launch.fingerprint &&
    secretsMatch === true &&
    modelPathIntact === true &&
    isManagerAsWished(desired.launch.manager, observed) &&
    driftOf(observed).every(({ repair }) => repair !== "restart")
  );
}

/** Crashed and rebooted servers too: their shared memory and temp files go before the next start. */
function hasSomethingToStop(observed: Observed): boolean {
  const { status, processes } = observed.server;
  return processes.length > 0 || (status !== "absent" && status !== "stopped");
}

/** Whoever looks after a server goes on doing so while the wish is "auto". */
function isManagerAsWished(wish: ManagerWish, { server }: Observed): boolean {
  return wish === "auto" || wish === server.launch?.manager;
}

/** Nobody reads the overlay but a start: what was changed after it is put back beside the running server. */
function overlayRepair({ overlay }: Desired, { server }: Observed): readonly Step[] {
  return overlay === null || server.differences.overlay.length === 0 ? [] : [overlay];
}

function policyChange({ launch }: Desired, { server }: Observed): readonly Step[] {
  const { restart, startOnBoot, logs, configYaml } = launch;
  const isAsWished =
    isSamePolicy(launch, server.launch) &&
    isUnitAsInstalled(server.unit, startOnBoot) &&
    server.differences.config === null;
  return isAsWished ? [] : [{ kind: "policy", restart, startOnBoot, logs, configYaml }];
}

function isSamePolicy(wish: Launch, now: ServerSeen["launch"]): boolean {
  return (
    now?.startOnBoot === wish.startOnBoot &&
    now.restart.max === wish.restart.max &&
    now.restart.withinSeconds === wish.restart.withinSeconds &&
    now.restart.delaySeconds === wish.restart.delaySeconds &&
    now.logs?.keep === wish.logs.keep &&
    now.logs.maxBytes === wish.logs.maxBytes
  );
}

/** A unit can be edited, enabled and disabled by hand. */
function isUnitAsInstalled(unit: ServerSeen["unit"], startOnBoot: boolean): boolean {
  return unit === null || (!unit.isEdited && unit.isEnabled === startOnBoot);
}

/** What was ready last, as the host remembers it. */
export function returnStep(spec: Spec, fatalPatterns: readonly string[]): ReturnStep {
  return { kind: "return", timeoutSeconds: spec.timeouts.ready, fatalPatterns, ...stallOf(spec) };
}

/** vLLM drains by itself for as long as it was told to; the margin above it is its own teardown. */
export function stopStep(spec: Spec, observed: Observed): StopStep {
  const drainSeconds = drainSecondsOf(spec);
  return {
    kind: "stop",
    drainSeconds,
    killAfterSeconds: Math.max(spec.timeouts.stop, drainSeconds + TEARDOWN_SECONDS),
    gpuFreeSeconds: observed.gpus === null ? 0 : GPU_FREE_SECONDS,
  };
}

function waitStep(spec: Spec, desired: Desired, fatalPatterns: readonly string[]): WaitStep {
  const answersFingerprint = /^fingerprint-value: /m.test(desired.launch.configYaml);
  return {
    kind: "wait",
    probe: spec.readiness.probe,
    apiKey: spec.apiKey,
    fingerprint: answersFingerprint ? desired.launch.fingerprint : null,
    timeoutSeconds: spec.timeouts.ready,
    fatalPatterns,
    ...stallOf(spec),
    kvCacheDtypes: grantedKvDtypes(spec.kvCacheDtype),
    kvCacheAuto: desired.kvCacheAuto,
  };
}

/**
 * What Ray starts is Ray's: its processes cannot be seen, and those that can wait for them.
 * Source: vLLM 0.32.0 v1/executor/ray_executor_v2.py: the workers belong to raylet.
 */
const RAY_FLAGS: ReadonlySet<string> = new Set(["distributed-executor-backend", "data-parallel-backend"]);

function stallOf(spec: Spec): Pick<WaitStep, "stallSeconds" | "idlePatterns"> {
  const usesRay = givenFlags(spec).some(({ flag, value }) => RAY_FLAGS.has(flag) && value === "ray");
  return { stallSeconds: usesRay ? 0 : spec.timeouts.stall, idlePatterns: idlePatterns() };
}
