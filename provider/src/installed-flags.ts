import type { Observed } from "./core/observed";
import type { Spec } from "./core/spec";
import { askedFlags, flagTableFor, type FlagKinds } from "./core/vllm-flags";
import type { HostAgent } from "./remote/host-agent";

/**
 * What the installed version knows: from a table where there is one for it, else asked of the installed vLLM itself (14 s, once per
 * version and host). null: there is no vLLM yet.
 */
export async function installedFlags(
  spec: Spec,
  { executable }: Observed,
  agent: HostAgent,
): Promise<FlagKinds | null> {
  if (executable?.found !== true) return null;
  const { version, path } = executable;
  return flagTableFor(version) ?? askedFlags((await agent.flags(path, spec.environment)).flags);
}
