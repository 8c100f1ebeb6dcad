import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";
import { compatibilityFindings } from "./findings";
import { memoryFindings } from "./memory-findings";
import { memoryFit } from "./memory-fit";
import { startFactsOf } from "./start-facts";

/** Whether model, vLLM, GPUs and inputs go together, and whether it fits. Pure; [] where vLLM or the checkpoint is not there yet. */
export function compatibility(spec: Spec, observed: Observed): readonly Finding[] {
  const facts = startFactsOf(spec, observed);
  if (facts === null) return [];
  return [
    ...compatibilityFindings(facts.situation),
    ...memoryFindings(memoryFit(facts.memory), facts.memory),
  ];
}
