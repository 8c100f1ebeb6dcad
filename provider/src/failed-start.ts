import { withAnotherLook } from "./another-look";
import { LOCK_WAIT_SECONDS, SLACK_SECONDS } from "./core/apply-limit";
import { fatalPatterns } from "./core/diagnose";
import type { VllmServerError } from "./core/errors";
import type { Observed } from "./core/observed";
import { returnStep, stopStep } from "./core/plan";
import type { Spec } from "./core/spec";
import { withReturn, withUnstopped } from "./core/start-failure";
import type { Step } from "./core/step";
import { LiveStart, type Report } from "./live-start";
import type { HostAgent } from "./remote/host-agent";
import type { ApplyResult } from "./remote/protocol";

/** What is left to do on the host after a start that failed, in the name of the server that it was to be. */
export interface Scene {
  readonly spec: Spec;
  /** `server "kimi" on gpu1` */
  readonly server: string;
  readonly agent: HostAgent;
  readonly report: Report;
  /** Hash of the declaration whose start failed. */
  readonly wished: string;
  readonly observe: () => Promise<Observed>;
  readonly request: (steps: readonly Step[], observed: Observed) => Parameters<HostAgent["apply"]>[0];
}

/**
 * A start that failed holds no GPU: what is left of it is stopped, its log and record stay. Then what served before it serves again.
 * Returns the failure to report: why the start failed is told even when the rest fails too.
 */
export async function clearUp(scene: Scene, failure: VllmServerError): Promise<VllmServerError> {
  let before: Observed;
  try {
    before = await stopRest(scene);
  } catch (error) {
    return withUnstopped(failure, error);
  }
  return comeBack(scene, failure, before);
}

/** For a start that the host refused: what ran before it may have been stopped for it, or may run on. Returns the failure to report. */
export async function afterRefusal(scene: Scene, refusal: VllmServerError): Promise<VllmServerError> {
  const observed = await scene.observe().catch(() => null);
  return observed?.server.status === "stopped" ? comeBack(scene, refusal, observed) : refusal;
}

/** Returns what was seen before it. */
async function stopRest({ spec, agent, observe, request }: Scene): Promise<Observed> {
  const limit = LOCK_WAIT_SECONDS + spec.timeouts.stop + SLACK_SECONDS * 2;
  return withAnotherLook(async () => {
    const observed = await observe();
    await agent.apply(request([stopStep(spec, observed)], observed), limit, () => undefined);
    return observed;
  });
}

async function comeBack(
  scene: Scene,
  failure: VllmServerError,
  { server: { lastGood } }: Observed,
): Promise<VllmServerError> {
  const isWished = scene.spec.update.returnToLastGood;
  if (!isWished || lastGood === null || lastGood.fingerprint === scene.wished) return failure;
  const version = lastGood.vllmVersion === null ? "" : ` (vLLM ${lastGood.vllmVersion})`;
  const earlier = `what served before${version}`;
  scene.report.progress(`starting ${earlier} again`);
  try {
    await withAnotherLook(() => returnOnce(scene));
    return withReturn(failure, earlier);
  } catch (error) {
    return withReturn(failure, earlier, error);
  }
}

async function returnOnce(scene: Scene): Promise<void> {
  const { spec, agent, observe, report, request } = scene;
  const observed = await observe();
  const live = new LiveStart(report);
  const limit = LOCK_WAIT_SECONDS + 2 * spec.timeouts.ready + SLACK_SECONDS;
  // A try whose connection broke may have left one that starts.
  const steps = [stopStep(spec, observed), returnStep(spec, fatalPatterns())];
  const result = await agent.apply(request(steps, observed), limit + spec.timeouts.stop, (event) => {
    live.take(event);
  });
  const failure = failureOf(scene, result, live);
  if (failure === null) return;
  try {
    await stopRest(scene);
  } catch (error) {
    throw withUnstopped(failure, error);
  }
  throw failure;
}

function failureOf(scene: Scene, { steps }: ApplyResult, live: LiveStart): VllmServerError | null {
  const wait = steps.find((step) => step.kind === "wait")?.wait;
  if (wait === undefined || wait.outcome === "ready") return null;
  return live.failure({
    wait,
    server: scene.server,
    host: scene.spec.host,
    // Of the earlier declaration it is not known here, and its own log tells it.
    port: scene.spec.listen.port,
    vllmVersion: null,
    logPath: steps.find((step) => step.kind === "start")?.start.logPath ?? null,
  });
}
