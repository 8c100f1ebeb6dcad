import { withAnotherLook } from "./another-look";
import { countedText } from "./core/amount-text";
import { stopStep } from "./core/plan";
import { purgeWords } from "./core/provision-words";
import type { Spec } from "./core/spec";
import { parseUrn } from "./core/urn";
import type { Report } from "./live-start";
import { look } from "./look";
import type { HostAgent } from "./remote/host-agent";
import type { StopResult } from "./remote/protocol";

const LOCK_WAIT_SECONDS = 60;
const SLACK_SECONDS = 120;
/** Half a terabyte of files goes in seconds on a disk of its own, and in minutes on a network's. */
const PURGE_SECONDS = 900;

export interface DismantleTask {
  readonly spec: Spec;
  readonly urn: string;
  readonly serverId: string;
  /** null: not recorded, then the id decides alone. */
  readonly claimId: string | null;
  readonly agent: HostAgent;
  readonly report: Report;
  readonly client: string;
}

/**
 * Ends the server and forgets it, in that order and only when the end is proven: no process, no shared memory, GPU memory back at
 * its baseline. A record that is no longer on the host, or that a newer resource took over, is nothing to delete.
 */
export function dismantle(task: DismantleTask): Promise<void> {
  return withAnotherLook(
    () => once(task),
    (error) => {
      task.report.info(`${error.details.summary}; looking again`);
    },
  );
}

async function once({ spec, urn, serverId, claimId, agent, report, client }: DismantleTask): Promise<void> {
  const observed = await look(agent, { spec, urn, serverId });
  if (observed.server.status === "absent") {
    report.info("nothing of it is on the host any more");
    return;
  }
  const claimedBy = observed.server.owner?.claimId ?? null;
  if (claimId !== null && claimedBy !== null && claimId !== claimedBy) {
    report.info("a newer resource has taken it over: it is left alone");
    return;
  }
  const { project, stack } = parseUrn(urn);
  const purges = spec.onDelete.model === "purge";
  report.progress("stopping");
  const result = await agent.apply(
    {
      serverId,
      urn,
      client: `${client} (${project}/${stack})`,
      lockWaitSeconds: LOCK_WAIT_SECONDS,
      expect: { generation: observed.server.generation, leaderPid: observed.server.leader?.pid ?? null },
      steps: [stopStep(spec, observed), { kind: "forget", purgeModel: purges }],
    },
    LOCK_WAIT_SECONDS + spec.timeouts.stop + SLACK_SECONDS + (purges ? PURGE_SECONDS : 0),
    (event) => {
      if (event.event === "waiting") report.progress(event.reason);
    },
  );
  const stop = result.steps.find((step) => step.kind === "stop")?.stop;
  if (stop !== undefined) report.info(stopSummary(stop));
  const forget = result.steps.find((step) => step.kind === "forget")?.forget;
  if (purges && forget !== undefined) report.info(purgeWords(forget));
}

function stopSummary(stop: StopResult): string {
  return [
    `stopped in ${String(Math.round(stop.seconds))} s: ${countedText(stop.ended.length, "process", "processes")} ended`,
    ...(stop.orphans > 0 ? [`${String(stop.orphans)} of them orphans`] : []),
    ...(stop.removedShm.length > 0
      ? [`${countedText(stop.removedShm.length, "shared-memory file")} removed`]
      : []),
    ...gpuSummary(Object.values(stop.gpuMemoryMib)),
  ].join(", ");
}

/** Every GPU was looked at; eight equal numbers are one. */
function gpuSummary(mib: readonly number[]): readonly string[] {
  if (mib.length === 0) return [];
  const [lowest, highest] = [Math.min(...mib), Math.max(...mib)];
  const range = lowest === highest ? String(lowest) : `${String(lowest)} to ${String(highest)}`;
  return [`memory of ${countedText(mib.length, "GPU")} back at ${range} MiB`];
}
