import type { Finding } from "../finding";
import type { Spec } from "../spec";
import { flagRowsFor, unknownFlags, unsuitableValues, type FlagKinds } from "../vllm-flags";

/**
 * Flags that the installed version does not know, and values that its parser would refuse.
 * @param known all that it knows.
 */
export function flagFindings(spec: Spec, version: string | null, known: FlagKinds): readonly Finding[] {
  const rows = flagRowsFor(version);
  const unknown = unknownFlags(spec, new Set(known.keys())).map(({ flag, path, note }): Finding => ({
    severity: "error",
    code: "FLAG_UNKNOWN",
    summary: `vLLM ${version ?? "of unknown version"} does not know --${flag}`,
    path,
    change: `${path}   (${note})`,
  }));
  const unsuitable = (rows === null ? [] : unsuitableValues(spec, rows)).map(
    ({ path, message }): Finding => ({
      severity: "error",
      code: "INPUT_INVALID",
      summary: `vLLM ${version ?? ""} would refuse ${message}`,
      path,
      change: path,
    }),
  );
  return [...unknown, ...unsuitable];
}
