import { VllmServerError } from "./core/errors";
import type { Observed } from "./core/observed";
import type { Spec } from "./core/spec";
import type { FlagKinds } from "./core/vllm-command";
import { askedFlags, flagRowsFor, flagTableFor, unknownFlags, unsuitableValues } from "./core/vllm-flags";
import type { HostAgent } from "./remote/host-agent";

/**
 * What the installed version knows: from a table where there is one for it, else asked of the installed vLLM itself (14 s, once per
 * version and host). A flag that it does not know, or a value that it would refuse, is reported here, before anything is stopped.
 */
export async function flagKindsOf(
  spec: Spec,
  observed: Observed,
  agent: HostAgent,
  server: string,
): Promise<FlagKinds> {
  if (observed.executable?.found !== true) throw new Error("flagKindsOf needs a host that passed preflight");
  const { version, path } = observed.executable;
  const kinds = flagTableFor(version) ?? askedFlags((await agent.flags(path, spec.environment)).flags);
  const unknown = unknownFlags(spec, new Set(kinds.keys()));
  if (unknown.length > 0) {
    throw new VllmServerError({
      code: "FLAG_UNKNOWN",
      summary: `Cannot start ${server}: vLLM ${version ?? "of unknown version"} does not know ${unknown.map((flag) => `--${flag.flag}`).join(", ")}`,
      change: unknown.map((flag) => `${flag.path}   (${flag.note})`).join("; "),
      path: unknown[0]?.path,
      retryable: false,
    });
  }
  refuseUnsuitable(spec, version, server);
  return kinds;
}

function refuseUnsuitable(spec: Spec, version: string | null, server: string): void {
  const rows = flagRowsFor(version);
  const problems = rows === null ? [] : unsuitableValues(spec, rows);
  if (problems.length === 0) return;
  throw new VllmServerError({
    code: "INPUT_INVALID",
    summary: `Cannot start ${server}: vLLM ${version ?? ""} would refuse ${problems.map((problem) => problem.message).join("; ")}`,
    change: problems.map((problem) => problem.path).join(", "),
    path: problems[0]?.path,
    retryable: false,
  });
}
