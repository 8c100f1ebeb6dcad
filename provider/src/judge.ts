import { isError, type Finding } from "./core/finding";
import type { Observed } from "./core/observed";
import { flagFindings, preflight, refusal, type Moment } from "./core/preflight";
import type { Spec } from "./core/spec";
import type { FlagKinds } from "./core/vllm-flags";
import { installedFlags } from "./installed-flags";
import type { HostAgent } from "./remote/host-agent";

/** A host on which nothing was found that makes the start certain to fail. */
export interface Judged {
  readonly observed: Observed;
  /** What the installed vLLM knows; null: it is not there yet. */
  readonly flags: FlagKinds | null;
  /** Warnings and notes. */
  readonly findings: readonly Finding[];
}

/** A look at the host, and when. */
export interface Sighting {
  readonly observed: Observed;
  readonly asked: Moment;
}

export interface JudgeTask {
  readonly spec: Spec;
  readonly agent: HostAgent;
  /** `server "kimi" on gpu1` */
  readonly server: string;
}

/** Fails with all that stands in the way of the start, before anything is stopped for it. */
export async function judge(
  { spec, agent, server }: JudgeTask,
  { observed, asked }: Sighting,
): Promise<Judged> {
  const findings = preflight(spec, observed, asked);
  const isRefused = findings.some(isError);
  const flags = await installedFlags(spec, observed, agent).catch((error: unknown) => {
    // What is known to stand in the way is told, also where vLLM does not even say what it knows.
    if (isRefused) return null;
    throw error;
  });
  const version = observed.executable?.found === true ? observed.executable.version : null;
  const all = [...findings, ...(flags === null ? [] : flagFindings(spec, version, flags))];
  const refused = refusal(server, all);
  if (refused !== null) throw refused;
  return { observed, flags, findings: all };
}
