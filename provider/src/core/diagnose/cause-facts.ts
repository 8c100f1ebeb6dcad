import { MACHINE_CAUSES } from "./cause-facts-machine";
import { SERVING_CAUSES } from "./cause-facts-serving";
import type { CauseFact, FailureCause } from "./causes";

/** What every cause of the closed list means. The type makes a missing row a compile error. */
export const CAUSE_FACTS: Readonly<Record<FailureCause, CauseFact>> = {
  ...SERVING_CAUSES,
  ...MACHINE_CAUSES,
};
