import { MOST_SECONDS } from "./input-leaf";
import type { Spec } from "./spec";
import type { Step } from "./step";

export const LOCK_WAIT_SECONDS = 60;
/** Time for connecting, file work and the agent itself, beside the waits that have limits of their own. */
export const SLACK_SECONDS = 60;

/** Seconds until the agent ends itself over these steps. A download may take as long as it likes while bytes arrive. */
export function applyLimit(steps: readonly Step[], { timeouts }: Spec): number {
  const has = (kind: Step["kind"]): boolean => steps.some((step) => step.kind === kind);
  if (has("fetch")) return MOST_SECONDS;
  const installing = has("install") ? timeouts.install + SLACK_SECONDS : 0;
  return LOCK_WAIT_SECONDS + timeouts.stop + 2 * timeouts.ready + SLACK_SECONDS + installing;
}
