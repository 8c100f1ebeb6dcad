import { compatibility } from "../compatibility";
import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";
import { checkpointFindings } from "./checkpoint";
import type { Moment } from "./clock";
import { configFindings } from "./config";
import { executableFindings } from "./executable";
import { gpusToUse } from "./gpu-choice";
import { gpuKindFindings } from "./gpu-kinds";
import { gpuFindings } from "./gpus";
import { hostMemoryFindings } from "./host-memory";
import { lingerFindings } from "./linger";
import { machineFindings } from "./machine";
import { openFilesFindings } from "./open-files";
import { portFindings } from "./port";
import { sharedMemoryFindings } from "./shared-memory";

type Check = (spec: Spec, observed: Observed) => readonly Finding[];

/** In the order in which they are told. */
const CHECKS: readonly Check[] = [
  executableFindings,
  checkpointFindings,
  configFindings,
  portFindings,
  gpuFindings,
  gpuKindFindings,
  compatibility,
  sharedMemoryFindings,
  hostMemoryFindings,
  openFilesFindings,
  lingerFindings,
];

/**
 * What speaks against a start, looked at before anything on the host is touched. All of it, not the first. A check that cannot be made
 * finds nothing, and what is ours to bring there may be missing. Flags are another check, for they may have to be asked for (flags.ts).
 * @param asked when the host was looked at; null: clocks are not compared.
 */
export function preflight(spec: Spec, observed: Observed, asked: Moment | null = null): readonly Finding[] {
  return [
    ...CHECKS.flatMap((check) => check(spec, observed)),
    ...machineFindings(observed, gpusToUse(spec, observed), asked),
  ];
}
