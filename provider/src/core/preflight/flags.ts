import type { Finding } from "../finding";
import type { Spec } from "../spec";
import { deprecatedFlags, flagRowsFor, unknownFlags, unsuitableValues, type FlagKinds } from "../vllm-flags";

/**
 * Flags that the installed version does not know or that go away, and values that its parser would refuse.
 * @param known all that it knows.
 */
export function flagFindings(spec: Spec, version: string | null, known: FlagKinds): readonly Finding[] {
  const rows = flagRowsFor(version);
  const names = new Set(known.keys());
  const unknown = unknownFlags(spec, names).map(({ flag, path, note }): Finding => ({
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
  const deprecated = deprecatedFlags(spec, version, names).map(({ flag, path, note }): Finding => ({
    severity: "warning",
    code: "FLAG_DEPRECATED",
    summary: `--${flag} is deprecated in vLLM ${version ?? ""}`,
    path,
    change: `${path}   (${note})`,
  }));
  return [...unknown, ...unsuitable, ...deprecated];
}
