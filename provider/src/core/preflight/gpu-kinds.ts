import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";
import { gpusToUse } from "./gpu-choice";

/** GPUs of different kinds that are to work as one. */
export function gpuKindFindings(spec: Spec, observed: Observed): readonly Finding[] {
  const gpus = gpusToUse(spec, observed);
  const kinds = new Map<string, number>();
  for (const { name, memoryTotalMib } of gpus) {
    const kind = `${name} (${String(memoryTotalMib)} MiB)`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  if (kinds.size < 2) return [];
  const told = [...kinds].map(([kind, count]) => `${String(count)} x ${kind}`).join(", ");
  return [
    {
      severity: "warning",
      code: "GPUS_DIFFER",
      summary: `the GPUs that work together are of different kinds: ${told}; the smallest and the slowest decide for all, and a kernel that one lacks fails the start`,
      path: "gpus",
      change: "gpus: [...]   (of one kind)",
    },
  ];
}
