import { ENGINE_FLAGS } from "./engine-flags";
import type { InputPath } from "./input-path";
import type { JsonValue } from "./json";
import type { Spec } from "./spec";

export interface GivenFlag {
  readonly inputPath: InputPath;
  /** Long name without dashes in front. */
  readonly flag: string;
  readonly value: JsonValue;
}

/** All flags of a spec that came from the user, in the order of their inputs. */
export function givenFlags(spec: Spec): readonly GivenFlag[] {
  const typed = Object.entries(spec.engine).flatMap(([name, value]) => {
    const row = ENGINE_FLAGS.get(name);
    return row === undefined ? [] : [{ inputPath: ["engine", name], flag: row.flag, value }];
  });
  const extra = Object.entries(spec.extraArgs).map(([flag, value]) => ({
    inputPath: ["extraArgs", flag],
    flag,
    value,
  }));
  return [...typed, ...extra];
}
