import { formatPath, type InputPath } from "../input-path";
import type { JsonValue } from "../json";

/**
 * What an `up` does about it. wait: the server is on its way. live: put right beside the running server. none: it cannot be repaired
 * from here, and the update says so.
 */
export const REPAIRS = ["start", "restart", "live", "wait", "none"] as const;
export type Repair = (typeof REPAIRS)[number];

/** One property that is not on the host as this state believes. */
export interface Drift {
  /** Of an input, where it is one with a value of its own, else of an output. */
  readonly path: InputPath;
  /** What stands there instead, as it is shown; undefined: nothing. Never a secret. */
  readonly found: JsonValue | undefined;
  readonly words: string;
  readonly repair: Repair;
}

/** "listen.port: 9000 is listened on, declared 8000" */
export function driftLine({ path, words }: Drift): string {
  return `${formatPath(path)}: ${words}`;
}
