import type { Spec } from "./spec";

/** What is given as --dtype; null: nothing. */
export function dtypeArgument(spec: Spec): string | null {
  const dtype = spec.engine["dtype"];
  return typeof dtype === "string" ? dtype : null;
}
