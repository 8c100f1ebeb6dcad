import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { converge, type ConvergeResult, type ConvergeTask } from "./converge";
import { derivedOutputs } from "./core/derived-outputs";
import {
  declaredHash,
  driftLine,
  driftOf,
  foundInputs,
  isDriftInInputs,
  recordedDrift,
  recovery,
  UNSETTLED,
  type Drift,
} from "./core/drift";
import { serverSlug } from "./core/identity";
import { isUnreachable } from "./core/lost-host";
import { keptRevision } from "./core/model-source";
import type { Observed } from "./core/observed";
import { serverOutputs, toWire } from "./core/outputs";
import { inputsOf, parseInputs } from "./core/parse-inputs";
import { redact } from "./core/redact";
import type { Spec } from "./core/spec";
import { seenIn } from "./core/unreached-update";
import { parseUrn } from "./core/urn";
import { declared, presentable, reportTo, type Declared } from "./declared";
import { dismantle } from "./dismantle";
import { sayingHowToLeave } from "./leaving";
import { look } from "./look";
import { fromWire, initError, type Wire } from "./pulumi/adapter";
import { engineLog } from "./pulumi/engine-log";
import { watchParent } from "./pulumi/parent-watch";
import { agentFor } from "./remote/connection-pool";
import { forgetOrFail, recordedUnreached } from "./unreached";

/** The hooks that look at a host. */

/** Output of our own beside the outputs; Pulumi hides such names in diffs. */
const CLAIM = "__claim";

export async function create(inputs: Wire): Promise<{ id: string; outs: Wire }> {
  const { spec, urn, marked } = declared(inputs);
  const slug = serverSlug(parseUrn(urn).name);
  const claimId = randomBytes(4).toString("hex");
  const serverId = `${slug}-${randomBytes(4).toString("hex")}`;
  const result = await convergeFor({ spec, urn, marked, verb: "create", serverId, claimId });
  return {
    id: result.serverId,
    outs: await outcome(result, { spec, urn, marked }, { ...inputs, [CLAIM]: claimId }),
  };
}

export async function update(id: string, olds: Wire, news: Wire): Promise<{ outs: Wire }> {
  const { spec, urn, marked } = declared(news);
  // The same each time where none is recorded: an update that is cut off must know its own claim again.
  const claimId = claimOf(olds) ?? id.slice(-8);
  const asksToken = olds["status"] === "hung" || olds["status"] === "unresponsive";
  const resolvedRevision = keptRevision(modelOf(olds), spec.model, olds["modelRevision"]);
  const result = await convergeFor({
    spec,
    urn,
    marked,
    verb: "update",
    serverId: id,
    claimId,
    asksToken,
    resolvedRevision,
  });
  const inputs = { ...news, [CLAIM]: claimId };
  if (result.kind === "failed" && !result.touched && isUnreachable(result.error))
    return { outs: await recordedUnreached(id, result.error, { spec, urn, marked }, olds, inputs) };
  const before = { ...seenIn(olds), modelRevision: resolvedRevision };
  return { outs: await outcome(result, { spec, urn, marked }, inputs, before) };
}

/** What a state declares as its model; null: it is not readable, or of a preview. */
function modelOf(olds: Wire): Spec["model"] | null {
  const parsed = parseInputs(inputsOf(fromWire(olds).inputs));
  return parsed.ok ? parsed.spec.model : null;
}

function claimOf(outputs: Wire): string | null {
  return textOf(outputs[CLAIM]);
}

function convergeFor({
  marked,
  ...task
}: Declared &
  Pick<
    ConvergeTask,
    "verb" | "serverId" | "claimId" | "asksToken" | "resolvedRevision"
  >): Promise<ConvergeResult> {
  const { spec, urn } = task;
  watchParent();
  return sayingHowToLeave("up", reportTo({ spec, urn, marked }), (report) =>
    converge({
      ...task,
      agent: agentFor(spec.host, spec.timeouts.connect),
      report,
      createdBy: `${userInfo().username}@${hostname()}`,
      now: () => new Date(),
    }),
  );
}

/** Outputs of what was reached; or the error, with what exists on the host kept in state so that the next `up` goes on from there. */
async function outcome(
  result: ConvergeResult,
  task: Declared,
  inputs: Wire,
  before: Wire = {},
): Promise<Wire> {
  if (result.kind === "converged") return { ...inputs, ...reached(task.spec, result.observed) };
  const error = presentable(result.error, task);
  if (!result.touched) throw error;
  const seen = withRevision(await lastSight(result, task), before);
  throw initError(result.serverId, { ...before, ...inputs, ...seen }, [error.message]);
}

/** What is on the host after a failure, where it can still be seen; a host that was just found unreachable is not dialled again. */
async function lastSight(
  { error, serverId, wished }: Extract<ConvergeResult, { kind: "failed" }>,
  task: Declared,
): Promise<Wire> {
  const { spec } = task;
  const unknown = { ...derivedOutputs(spec), status: "unknown", drift: [] };
  if (isUnreachable(error)) return unknown;
  return look(agentFor(spec.host, spec.timeouts.connect), { ...task, serverId }).then(
    (observed) => reached(spec, observed, wished ?? UNSETTLED),
    () => unknown,
  );
}

/** A checkpoint that is not to be seen now stays the one that it was. */
function withRevision(outputs: Wire, before: Wire): Wire {
  const modelRevision = outputs["modelRevision"] ?? before["modelRevision"] ?? null;
  return { ...outputs, modelRevision };
}

/**
 * Outputs of a server that was just acted on: what was started is what is believed.
 * @param wished hash of a declaration that failed, or UNSETTLED: where an earlier one serves, the next `up` has to know that it is not
 * the declared one, even if a refresh has cleared the failure meanwhile.
 */
function reached(spec: Spec, observed: Observed, wished: string | null = null): Wire {
  const believed =
    wished === null ? null : { configHash: wished, claimId: null, service: spec.service, marks: [] };
  const drift = driftOf(observed, believed);
  const configHash = wished ?? observed.server.launch?.fingerprint ?? null;
  return {
    ...toWire(serverOutputs(spec, observed, drift)),
    ...recordedDrift(drift, { isInInputs: false, configHash }),
  };
}

/**
 * A server that is not on the host is gone (empty id); a host that does not answer is an error, never "gone". Outputs keep the declared
 * inputs; the inputs that are handed back are those found, so that a preview shows the difference at its property.
 */
export async function read(id: string, props: Wire): Promise<{ id: string; props: Wire; inputs?: Wire }> {
  watchParent();
  const { spec, urn, marked } = declared(props);
  try {
    const agent = agentFor(spec.host, spec.timeouts.connect);
    const observed = await look(agent, { spec, urn, serverId: id, marked }, "refresh");
    if (observed.server.status === "absent") return { id: "", props: {} };
    const drift = driftSince(props, observed, spec).map((one) => ({
      ...one,
      words: redact(spec, one.words, marked),
    }));
    const isInInputs = drift.length > 0;
    const outputs = {
      ...withRevision(toWire(serverOutputs(spec, observed, drift)), props),
      ...recordedDrift(drift, { isInInputs, configHash: declaredHash(props) }),
    };
    for (const one of drift) engineLog().warning(urn, driftLine(one));
    const { token } = observed.server.differences;
    if (token?.outcome === "busy" || token?.outcome === "unclear")
      engineLog().info(urn, `${token.outcome}: ${redact(spec, token.detail ?? "", marked)}`);
    const news = recovery(observed, {
      restarts: Number(props["restarts"] ?? 0),
      bootId: textOf(props["bootId"]),
    });
    if (news !== null) engineLog().warning(urn, news);
    await engineLog().flush();
    return {
      id,
      props: { ...props, ...outputs },
      ...(isInInputs || isDriftInInputs(props) ? { inputs: foundInputs(props, drift) } : {}),
    };
  } catch (error) {
    throw presentable(error, { spec, urn, marked });
  }
}

function driftSince(props: Wire, observed: Observed, { service }: Spec): readonly Drift[] {
  const { marks } = fromWire(props);
  return driftOf(observed, {
    configHash: declaredHash(props),
    claimId: claimOf(props),
    service,
    marks,
  });
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export async function remove(id: string, props: Wire): Promise<void> {
  watchParent();
  const { spec, urn, marked } = declared(props);
  try {
    const agent = agentFor(spec.host, spec.timeouts.connect);
    const client = `${userInfo().username}@${hostname()}`;
    await sayingHowToLeave("destroy", reportTo({ spec, urn, marked }), (report) =>
      dismantle({ spec, urn, serverId: id, claimId: claimOf(props), agent, report, client }),
    );
  } catch (error) {
    await forgetOrFail(id, error, { spec, urn, marked }, props);
  }
}
