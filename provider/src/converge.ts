import { isWorthAnotherLook, withAnotherLook } from "./another-look";
import { applyLimit, LOCK_WAIT_SECONDS, SLACK_SECONDS } from "./core/apply-limit";
import { desiredState } from "./core/desired";
import { fatalPatterns } from "./core/diagnose";
import { accident, driftOf } from "./core/drift";
import { VllmServerError } from "./core/errors";
import { foreignOwner } from "./core/foreign-owner";
import type { Observed, OwnerRecord } from "./core/observed";
import { claimSteps, plan } from "./core/plan";
import { allParts, missingParts, partLabel, provision, type Provision } from "./core/provision";
import { fetchWords, installWords } from "./core/provision-words";
import type { Spec } from "./core/spec";
import { logCommand } from "./core/ssh-command";
import type { Step } from "./core/step";
import { parseUrn } from "./core/urn";
import { afterRefusal, clearUp, type Scene } from "./failed-start";
import { Heed } from "./heed";
import { judge, type Judged, type Sighting } from "./judge";
import { LiveStart, type Report } from "./live-start";
import { look, type LookFor } from "./look";
import type { HostAgent } from "./remote/host-agent";
import type { ApplyResult } from "./remote/protocol";
import { Stopwatch } from "./stopwatch";

export interface ConvergeTask {
  readonly spec: Spec;
  readonly urn: string;
  /** create refuses a server that is confirmed to be somebody else's; update knows that it is ours. */
  readonly verb: "create" | "update";
  /** Id to use where the host has no record yet. */
  readonly serverId: string;
  readonly agent: HostAgent;
  readonly report: Report;
  /** Of this resource, from its create on. */
  readonly claimId: string;
  /** Commit that a branch or tag of the model was resolved to before; null: it is to be resolved. */
  readonly resolvedRevision?: string | null | undefined;
  /** The last look found that it answers no token: whether that is still so decides what is done. */
  readonly asksToken?: boolean | undefined;
  /** user@machine of whoever runs the CLI. */
  readonly createdBy: string;
  readonly now: () => Date;
}

export type ConvergeResult =
  | { readonly kind: "converged"; readonly serverId: string; readonly observed: Observed }
  | {
      readonly kind: "failed";
      readonly serverId: string;
      readonly error: unknown;
      /** Whether anything was done on the host; if not, there is nothing to remember. */
      readonly touched: boolean;
      /** Hash of the declaration; null: the try did not come as far as to know it. */
      readonly wished: string | null;
    };

/** observe -> plan -> apply -> observe. The same for create and update, whatever is or is not there. */
export async function converge(task: ConvergeTask): Promise<ConvergeResult> {
  const run = new Run(task);
  try {
    const observed = await withAnotherLook(
      () => run.once(),
      (error) => {
        task.report.info(`${error.details.summary}; the work on the host goes on, looking again`);
      },
      () => run.hasAdvanced(),
    );
    return { kind: "converged", serverId: run.serverId, observed };
  } catch (error) {
    return { kind: "failed", serverId: run.serverId, error, touched: run.touched, wished: run.wished };
  }
}

class Run {
  serverId: string;
  touched = false;
  wished: string | null = null;
  /** How far the long work was seen to come in the last try, and in those before it. */
  private advance = { before: 0, now: 0 };
  private readonly heed: Heed;
  private readonly stopwatch: Stopwatch;

  constructor(private readonly task: ConvergeTask) {
    this.serverId = task.serverId;
    this.stopwatch = new Stopwatch(task.now);
    this.heed = new Heed(task.report);
  }

  /** Of the last try, asked once. */
  hasAdvanced(): boolean {
    const { before, now } = this.advance;
    this.advance = { before: Math.max(before, now), now: 0 };
    return now > before;
  }

  async once(): Promise<Observed> {
    const { spec, report, urn, resolvedRevision = null } = this.task;
    const sighting = await this.lookForStart();
    const seen = sighting.observed;
    this.serverId = seen.server.owner?.serverId ?? this.serverId;
    const foreign = foreignOwner(seen, { ...this.task, server: this.serverName() });
    if (foreign !== null) throw foreign;
    const before = await this.judge(sighting);
    const needed = provision(spec, urn, resolvedRevision);
    const missing = missingParts(needed, seen);
    const judged = missing.length === 0 ? before : await this.provide(needed, before);
    const { observed, flags } = judged;
    if (flags === null) throw new Error("what a start needs was brought, and there is no vLLM");
    const desired = desiredState(spec, observed, flags, urn);
    this.wished = desired.launch.fingerprint;
    const unseen = allParts(needed).filter((part) => !missing.includes(part));
    const steps = plan(spec, desired, observed, this.owner(), fatalPatterns(), unseen);
    if (steps.some(({ kind }) => kind === "start")) this.heed.tell([...judged.findings, ...desired.warnings]);
    if (steps.length > 0) {
      const found = accident(observed);
      if (found !== null) report.info(found);
      await this.apply(steps, observed);
    }
    const reached = steps.length === 0 ? observed : await this.observe();
    this.demandStanding(reached);
    await this.confirm(reached);
    return reached;
  }

  private judge(sighting: Sighting): Promise<Judged> {
    return judge({ ...this.task, server: this.serverName() }, sighting);
  }

  /** Installs and downloads what is missing, while whatever runs goes on running; returns the host as it is then. */
  private async provide(needed: Provision, { observed: seen, findings }: Judged): Promise<Judged> {
    this.heed.tell(findings);
    await this.apply([...claimSteps(seen, this.owner()), ...missingParts(needed, seen)], seen);
    const sighting = await this.lookForStart();
    const { observed } = sighting;
    const [missing] = missingParts(needed, observed);
    if (missing !== undefined) {
      const { executable, checkpoint } = observed;
      const part = missing.kind === "install" ? executable : checkpoint;
      throw new VllmServerError({
        code: "CHANGED_MEANWHILE",
        summary: `Cannot start ${this.serverName()}: ${partLabel(this.task.spec, missing.kind)} was complete, and is not any more`,
        evidence: part?.found === false ? part.reason : undefined,
        retryable: true,
      });
    }
    return this.judge(sighting);
  }

  /** What was proven ready a moment ago can be gone since: its supervisor was killed, or it died of its first request. */
  private demandStanding(reached: Observed): void {
    const { status, logPath } = reached.server;
    // A server that is too busy for /health is no reason to start it anew.
    if (status === "ready" || status === "unresponsive") return;
    throw new VllmServerError({
      code: "CHANGED_MEANWHILE",
      summary: `Cannot keep ${this.serverName()} running: it was ready, and then ${driftOf(reached)[0]?.words ?? status}`,
      ...(logPath === null ? {} : { logCommand: logCommand(this.task.spec.host, logPath) }),
      retryable: true,
    });
  }

  private async lookForStart(): Promise<Sighting> {
    const from = this.task.now();
    const observed = await this.observe({ asksToken: this.task.asksToken, forStart: true });
    return { observed, asked: { from, to: this.task.now() } };
  }

  private observe(wishes: Pick<LookFor, "asksToken" | "forStart"> = {}): Promise<Observed> {
    return look(this.task.agent, {
      ...wishes,
      spec: this.task.spec,
      urn: this.task.urn,
      serverId: this.task.verb === "create" ? null : this.serverId,
    });
  }

  private async carriedOut(
    steps: readonly Step[],
    observed: Observed,
    live: LiveStart,
  ): Promise<ApplyResult> {
    const { agent, spec } = this.task;
    const limit = applyLimit(steps, spec);
    try {
      return await agent.apply(this.request(steps, observed), limit, (event) => {
        live.take(event);
        this.advance.now = live.advance;
      });
    } catch (error) {
      const isStart = steps.some((step) => step.kind === "start");
      if (!isStart || isWorthAnotherLook(error) || !(error instanceof VllmServerError)) throw error;
      throw await afterRefusal(this.scene(), error);
    }
  }

  private scene(): Scene {
    const { spec, agent, report } = this.task;
    return {
      spec,
      agent,
      report,
      server: this.serverName(),
      wished: this.wished ?? "",
      observe: () => this.observe(),
      request: (steps, observed) => this.request(steps, observed),
    };
  }

  private async apply(steps: readonly Step[], observed: Observed): Promise<void> {
    const { spec, report, resolvedRevision = null } = this.task;
    const live = new LiveStart(report, partLabel(spec, "install"));
    this.touched = true;
    const result = await this.carriedOut(steps, observed, live);
    const { checkpoint } = observed;
    const known = resolvedRevision ?? (checkpoint?.found === true ? (checkpoint.revision ?? null) : null);
    this.stopwatch.take(result);
    for (const step of result.steps) {
      if (step.kind === "install") for (const words of installWords(step.install)) report.info(words);
      if (step.kind === "fetch") for (const words of fetchWords(spec, step.fetch, known)) report.info(words);
    }
    const started = result.steps.find((step) => step.kind === "start")?.start;
    const last = result.steps.at(-1);
    // How it is looked after from now on: of no meaning for a start that failed.
    if (last?.kind !== "wait" || last.wait.outcome === "ready")
      for (const note of started?.notes ?? []) report.info(note);
    if (last?.kind !== "wait") return;
    if (last.wait.outcome === "ready") {
      report.info(live.summary(last.wait.ready, this.stopwatch.spent(spec)));
      return;
    }
    const failure = live.failure({
      wait: last.wait,
      server: this.serverName(),
      host: spec.host,
      port: spec.listen.port,
      vllmVersion: observed.executable?.found === true ? observed.executable.version : null,
      logPath: started?.logPath ?? observed.server.logPath,
    });
    report.progress(last.wait.outcome === "exited" ? "cleaning up" : "stopping the failed start");
    throw await clearUp(this.scene(), failure);
  }

  /**
   * Last of all, and only while the engine still answers: a CLI that died must leave a server the next `up` may take over.
   * It can die meanwhile too, and then nobody will remember what was confirmed.
   */
  private async confirm(observed: Observed): Promise<void> {
    if (observed.server.owner?.confirmed === true) return;
    for (const confirmed of [true, false]) {
      if ((await this.task.report.isReachable()) !== confirmed) return;
      await this.task.agent.apply(
        this.request([{ kind: "confirm", confirmed }], observed),
        LOCK_WAIT_SECONDS + SLACK_SECONDS,
        () => undefined,
      );
    }
  }

  private request(steps: readonly Step[], observed: Observed): Parameters<HostAgent["apply"]>[0] {
    const { spec, urn, createdBy } = this.task;
    const { project, stack } = parseUrn(urn);
    const starts = steps.some(({ kind }) => kind === "start" || kind === "return");
    return {
      serverId: this.serverId,
      urn,
      client: `${createdBy} (${project}/${stack})`,
      lockWaitSeconds: starts ? Math.max(LOCK_WAIT_SECONDS, spec.timeouts.ready) : LOCK_WAIT_SECONDS,
      expect: { generation: observed.server.generation, leaderPid: observed.server.leader?.pid ?? null },
      steps,
    };
  }

  private owner(): OwnerRecord {
    const { urn, createdBy, claimId, now } = this.task;
    const owner = { serverId: this.serverId, urn, ...parseUrn(urn), createdBy, claimId };
    return { ...owner, createdAt: now().toISOString(), confirmed: false };
  }

  private serverName(): string {
    return `server "${parseUrn(this.task.urn).name}" on ${this.task.spec.host.host}`;
  }
}
