import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";
import { checkpointFindings } from "./checkpoint";
import { configFindings } from "./config";
import { executableFindings } from "./executable";
import { gpuFindings } from "./gpus";
import { portFindings } from "./port";

type Check = (spec: Spec, observed: Observed) => readonly Finding[];

/** In the order in which they are told. */
const CHECKS: readonly Check[] = [
  executableFindings,
  checkpointFindings,
  configFindings,
  portFindings,
  gpuFindings,
];

/**
 * What speaks against a start, looked at before anything on the host is touched. All of it, not the first. A check that cannot be made
 * finds nothing, and what is ours to bring there may be missing. Flags are another check, for they may have to be asked for (flags.ts).
 */
export function preflight(spec: Spec, observed: Observed): readonly Finding[] {
  return CHECKS.flatMap((check) => check(spec, observed));
}
