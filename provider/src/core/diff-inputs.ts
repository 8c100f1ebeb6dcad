import { bringing, type Bringing } from "./diff-bring";
import { changesBetween, comparable, type Change } from "./diff-compare";
import { MODEL_PLACES } from "./derived-outputs";
import { effectOf, isPlaceOfHost, type Effect } from "./diff-effects";
import { isRecord } from "./input-json";
import { pathsOverlap } from "./input-path";
import { isSameCommit } from "./model-source";
import { INPUT_NAMES, inputsOf, parseInputs, type ParsedInputs } from "./parse-inputs";
import type { ManagerWish } from "./spec";
import { withoutMarkedValues, type SecretMarks } from "./secret-marks";

export interface InputDiff {
  /** Inputs that move the server to another machine: ["host"] or []. */
  readonly replaces: readonly string[];
  /** From which host to which; null: it stays where it is, or that is not known yet. */
  readonly move: Change | null;
  /** Changes that a running server has to be restarted for. */
  readonly restart: readonly Change[];
  /** Changes that need an update, but no restart. */
  readonly live: readonly Change[];
  /** Other ways to the same machine: nothing happens on it. */
  readonly credentials: readonly Change[];
  /** New inputs that are not known yet, so that nothing can be said about them. */
  readonly unknown: readonly string[];
  /** What is brought to the host first; null: nothing is, or that is not known yet. */
  readonly bringing: Bringing | null;
  /** Something differs, or is not known yet. */
  readonly hasChanges: boolean;
}

/** Who a host is, whatever way it is written: resolved host, port and user. "": not known. */
export interface HostIdentities {
  readonly oldHost: string;
  readonly newHost: string;
}

/**
 * Compares parsed inputs, so that another way to write the same is no change.
 * @param olds recorded inputs or outputs (output-only members are left out)
 * @param news checked inputs, in a preview with unknown values
 * @param marks where the program marked values secret
 */
export function diffInputs(
  olds: unknown,
  news: unknown,
  identities: HostIdentities,
  marks: SecretMarks = [],
): InputDiff {
  const before = parseInputs(inputsOf(olds));
  const after = parseInputs(inputsOf(news));
  const unknown = after.ok ? after.unknowns : [];
  const found = before.ok && after.ok ? changedInputs(before, after) : [unreadable()];
  const changes = found
    .filter((change) => !unknown.map(widened).some((path) => pathsOverlap(path, change.path)))
    .map((change) => withoutMarkedValues(change, marks));
  const moved = hostMove(identities, unknown);
  const move = moved === null ? null : withoutMarkedValues(moved, marks);
  const kept = after.ok ? keptAsWished(olds, before, after) : [];
  const withEffect = (effect: Effect): readonly Change[] =>
    changes.filter(({ path }) => (kept.includes(path) ? "live" : effectOf(path)) === effect);
  return {
    replaces: move === null ? [] : ["host"],
    move,
    restart: withEffect("restart"),
    live: withEffect("live"),
    credentials: move !== null ? [] : withEffect("credentials"),
    unknown,
    bringing:
      before.ok && after.ok && unknown.length === 0
        ? bringing(before.spec, after.spec, move !== null, recordedModel(olds))
        : null,
    hasChanges: changes.length > 0 || move !== null || unknown.length > 0,
  };
}

function recordedModel(olds: unknown): { readonly revision: string | null; readonly bytes: number | null } {
  const { modelRevision, modelBytes } = isRecord(olds) ? olds : {};
  return {
    revision: typeof modelRevision === "string" ? modelRevision : null,
    bytes: typeof modelBytes === "number" ? modelBytes : null,
  };
}

type Parsed = Extract<ParsedInputs, { ok: true }>;

function changedInputs(before: Parsed, after: Parsed): readonly Change[] {
  const from = comparable(before.spec);
  const to = comparable(after.spec);
  const areDerived = before.spec.gpus.kind === "derived" && after.spec.gpus.kind === "derived";
  const isNameDerived =
    after.unknowns.some((path) => MODEL_PLACES.some((place) => pathsOverlap(path, place))) &&
    !("servedModelName" in after.spec.engine);
  return INPUT_NAMES.flatMap((name) => changesBetween(from[name], to[name], [name])).filter(
    // A derived count only repeats the parallel sizes; a derived name repeats the model's path.
    (change) =>
      !(areDerived && change.path === "gpus") && !(isNameDerived && change.path === "engine.servedModelName"),
  );
}

/** What kind of model or vLLM it is, is not known before that is: until then the whole input is not. */
function widened(path: string): string {
  if (MODEL_PLACES.includes(path)) return "model";
  return path.startsWith("vllm.") ? "vllm" : path;
}

/** Changes that a running server already is as they wish. */
function keptAsWished(olds: unknown, before: ParsedInputs, after: Parsed): readonly string[] {
  const keepsManager = isManagerKept(olds, after.spec.service.manager);
  const revision = isRecord(olds) ? olds["modelRevision"] : null;
  const keepsRevision =
    before.ok &&
    isSameCommit(before.spec.model, after.spec.model, typeof revision === "string" ? revision : null);
  return [
    ...(keepsManager ? ["service.manager"] : []),
    ...(keepsRevision ? ["model.revision", "model.endpoint"] : []),
  ];
}

/** The one it has is what is wished now: nothing moves. States of earlier versions name none, and know the supervisor alone. */
function isManagerKept(olds: unknown, wish: ManagerWish): boolean {
  return wish === "auto" || (isRecord(olds) && (olds["manager"] ?? "process") === wish);
}

/** A state that this version cannot read (an older provider wrote it): the host decides when the update looks at it. */
function unreadable(): Change {
  return { path: "", from: "unreadable", to: "as declared", isSecret: false };
}

function hostMove({ oldHost, newHost }: HostIdentities, unknown: readonly string[]): Change | null {
  const isUnknown = oldHost === "" || newHost === "" || unknown.some(isPlaceOfHost);
  return isUnknown || oldHost === newHost
    ? null
    : { path: "host", from: oldHost, to: newHost, isSecret: false };
}
