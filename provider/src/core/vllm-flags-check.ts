import { engineNameOf } from "./engine-flags";
import { givenFlags } from "./given-flags";
import { nearestName } from "./input-names";
import { insteadOfFlag } from "./input-owned-flags";
import { formatPath } from "./input-path";
import type { Spec } from "./spec";
import { isBefore, majorMinor } from "./kv-cache-situation";
import { DEPRECATED_FLAGS, REMOVED_FLAGS } from "./vllm-flags-removed";

/** A flag that was given and that the installed vLLM does not take. */
export interface UnknownFlag {
  /** Input path: `engine.asyncScheduling`, `extraArgs["swap-space"]`. */
  readonly path: string;
  /** Long name without dashes in front. */
  readonly flag: string;
  /** What became of it, or the nearest one that is known. */
  readonly note: string;
}

/** @param known long flags of the installed version, with or without dashes in front. */
export function unknownFlags(spec: Spec, known: ReadonlySet<string>): readonly UnknownFlag[] {
  const names = new Set([...known].map((name) => name.replace(/^-+/, "")));
  const tellsNegatives = [...names].some((name) => name.startsWith("no-"));
  return givenFlags(spec).flatMap(({ inputPath, flag, value }) => {
    const path = formatPath(inputPath);
    if (!names.has(flag)) return [{ path, flag, note: noteOn(flag, names) }];
    if (value !== false || !tellsNegatives || names.has(`no-${flag}`)) return [];
    return [{ path, flag: `no-${flag}`, note: "it cannot be turned off, leave it out" }];
  });
}

function noteOn(flag: string, known: ReadonlySet<string>): string {
  const removed = REMOVED_FLAGS.find((row) => row.flag === flag);
  if (removed !== undefined) {
    return `removed in vLLM ${removed.since}${removed.instead === null ? "" : `; use ${removed.instead}`}`;
  }
  const nearest = nearestName(flag, known);
  if (nearest === null) return "this version has no flag of a similar name";
  const input = engineNameOf(nearest);
  if (input !== null) return `did you mean engine.${input}?`;
  const instead = insteadOfFlag(nearest);
  if (instead !== null) return `if --${nearest} was meant: ${instead}`;
  return `did you mean ${formatPath(["extraArgs", nearest])}?`;
}

/** Flags that were given, that the installed version takes, and that go away. */
export function deprecatedFlags(
  spec: Spec,
  version: string | null,
  known: ReadonlySet<string>,
): readonly UnknownFlag[] {
  const installed = majorMinor(version);
  if (installed === null) return [];
  return givenFlags(spec).flatMap(({ inputPath, flag }) => {
    const row = DEPRECATED_FLAGS.find((each) => each.flag === flag && known.has(flag));
    if (row === undefined || isBefore(installed, row.since)) return [];
    const note = `${row.words}; ${row.instead === null ? "leave it out" : `use ${row.instead}`}`;
    return [{ path: formatPath(inputPath), flag, note }];
  });
}
