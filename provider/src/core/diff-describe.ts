import { durationText } from "./amount-text";
import { bringingWords } from "./diff-bring";
import type { Change } from "./diff-compare";
import { NOT_SET } from "./diff-values";
import { effectOf, isPlaceOfHost } from "./diff-effects";
import type { InputDiff } from "./diff-inputs";
import type { RecordedDrift } from "./drift";
import { parseUrn } from "./urn";

export interface DiffContext {
  /** How long the newest start took until it was ready; null: none is recorded. */
  readonly lastStartSeconds: number | null;
  /** Status at the last look, of observed.ts; null: not recorded. */
  readonly status: string | null;
}

/** The context as the recorded outputs tell it. */
export function diffContext(outputs: Readonly<Record<string, unknown>>): DiffContext {
  const { startDurationSeconds: seconds, status } = outputs;
  return {
    lastStartSeconds: typeof seconds === "number" ? seconds : null,
    status: typeof status === "string" ? status : null,
  };
}

/** Statuses in which clients lose a server when it is restarted. */
const SERVING: ReadonlySet<string> = new Set(["ready", "starting", "hung", "unresponsive", "restarting"]);

/** What an update will do, one line a kind of effect, for the resource's own line in a preview. [] when nothing will be done. */
export function describeDiff(diff: InputDiff, context: DiffContext): readonly string[] {
  const lines: string[] = [];
  const { move } = diff;
  if (move !== null) {
    lines.push(
      `replacement: ${listed([move, ...diff.restart])}; the new server is started first, then the old one is stopped`,
    );
  } else if (diff.restart.length > 0) {
    lines.push(restartWords(diff.restart, context));
  }
  if (diff.bringing !== null && (move !== null || diff.restart.length > 0))
    lines.push(...bringingWords(diff.bringing));
  if (diff.live.length > 0) lines.push(`no restart: ${listed(diff.live)}`);
  if (diff.credentials.length > 0) {
    lines.push(
      `no change on the host: credentials changed (${diff.credentials.map((change) => change.path).join(", ")})`,
    );
  }
  return [...lines, ...unknownWords(diff.unknown)];
}

/** What an update does about drift, one line a kind of repair; [] where what describeDiff says repairs all of it. */
export function describeDrift(
  drift: readonly RecordedDrift[],
  diff: InputDiff,
  context: DiffContext,
): readonly string[] {
  if (diff.move !== null || diff.restart.length > 0) return [];
  const of = (...repairs: readonly RecordedDrift["repair"][]): string =>
    drift.flatMap(({ line, repair }) => (repairs.includes(repair) ? [line] : [])).join("; ");
  // A start repairs everything else too.
  const all = of("start", "restart", "live", "wait");
  const lines = [
    [of("none"), "not repaired by an update"],
    ...(of("start") !== ""
      ? [[all, "start"]]
      : of("restart") !== ""
        ? [[`${all}; ${downWords(context)}`, "restart"]]
        : [
            [of("live"), "no restart"],
            [of("wait"), "no restart, waits until it answers"],
          ]),
  ];
  return lines.flatMap(([text, what]) => (text === "" ? [] : [`${String(what)}: ${String(text)}`]));
}

/** That the owner record on the host follows a new name of the resource, its project or stack; null: there is none. "" is an unknown URN. */
export function describeRename(oldUrn: string, newUrn: string): string | null {
  if (oldUrn === "" || newUrn === "" || oldUrn === newUrn) return null;
  return `no restart: renamed from ${nameOf(oldUrn)} to ${nameOf(newUrn)}`;
}

/** "shop/prod kimi" */
function nameOf(urn: string): string {
  const { project, stack, name } = parseUrn(urn);
  return `${project}/${stack} ${name}`;
}

function restartWords(changes: readonly Change[], context: DiffContext): string {
  const { status } = context;
  if (status !== null && !SERVING.has(status))
    return `start: ${listed(changes)}; the server is not running (${status})`;
  return `restart: ${listed(changes)}; ${downWords(context)}`;
}

function downWords({ lastStartSeconds }: DiffContext): string {
  return lastStartSeconds === null
    ? "down until it is ready again"
    : `down about ${durationText(lastStartSeconds)} (last start took ${String(Math.round(lastStartSeconds))} s)`;
}

function unknownWords(unknown: readonly string[]): readonly string[] {
  const of = (isOne: (path: string) => boolean): string =>
    unknown
      .filter(isOne)
      .map((path) => (path === "" ? "the inputs" : path))
      .join(", ");
  const move = of(isPlaceOfHost);
  const restart = of((path) => !isPlaceOfHost(path) && effectOf(path) === "restart");
  const other = of((path) => !isPlaceOfHost(path) && effectOf(path) !== "restart");
  return [
    ...(move === "" ? [] : [`replacement possible: ${move} not known yet`]),
    ...(restart === "" ? [] : [`restart possible: ${restart} not known yet`]),
    ...(other === "" ? [] : [`no restart: ${other} not known yet`]),
  ];
}

function listed(changes: readonly Change[]): string {
  return changes.map(changeWords).join(", ");
}

function changeWords({ path, from, to, isSecret }: Change): string {
  const place = path === "" ? "the recorded inputs" : path;
  if (!isSecret) return `${place} ${from} -> ${to}`;
  if (from === NOT_SET) return `${place} added`;
  return to === NOT_SET ? `${place} removed` : `${place} changed`;
}
