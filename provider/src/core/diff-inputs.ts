import { changesBetween, comparable, type Change } from "./diff-compare";
import { effectOf, isPlaceOfHost, type Effect } from "./diff-effects";
import { isRecord } from "./input-json";
import { pathsOverlap } from "./input-path";
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
    .filter((change) => !unknown.some((path) => pathsOverlap(path, change.path)))
    .map((change) => withoutMarkedValues(change, marks));
  const moved = hostMove(identities, unknown);
  const move = moved === null ? null : withoutMarkedValues(moved, marks);
  const keepsManager = after.ok && isManagerKept(olds, after.spec.service.manager);
  const withEffect = (effect: Effect): readonly Change[] =>
    changes.filter(
      ({ path }) => (keepsManager && path === "service.manager" ? "live" : effectOf(path)) === effect,
    );
  return {
    replaces: move === null ? [] : ["host"],
    move,
    restart: withEffect("restart"),
    live: withEffect("live"),
    credentials: move !== null ? [] : withEffect("credentials"),
    unknown,
    hasChanges: changes.length > 0 || move !== null || unknown.length > 0,
  };
}

type Parsed = Extract<ParsedInputs, { ok: true }>;

function changedInputs(before: Parsed, after: Parsed): readonly Change[] {
  const from = comparable(before.spec);
  const to = comparable(after.spec);
  const areDerived = before.spec.gpus.kind === "derived" && after.spec.gpus.kind === "derived";
  const isNameDerived =
    after.unknowns.some((path) => pathsOverlap(path, "model.path")) &&
    !("servedModelName" in after.spec.engine);
  return INPUT_NAMES.flatMap((name) => changesBetween(from[name], to[name], [name])).filter(
    // A derived count only repeats the parallel sizes; a derived name repeats the model's path.
    (change) =>
      !(areDerived && change.path === "gpus") && !(isNameDerived && change.path === "engine.servedModelName"),
  );
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
