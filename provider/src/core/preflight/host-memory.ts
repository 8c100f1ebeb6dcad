import { sizeText } from "../amount-text";
import type { Finding } from "../finding";
import { gpusNeeded } from "../identity";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

const GIB = 1024 ** 3;

/** Weights are read through the page cache, which is no need; what is offloaded stays in memory, pinned. */
export function hostMemoryFindings(spec: Spec, observed: Observed): readonly Finding[] {
  const total = observed.host.memoryTotalBytes;
  if (total === null) return [];
  return [...offloaded(spec, total), ...cached(observed, total)];
}

/** Source: vLLM 0.32.0 config/offload.py cpu_offload_gb: GiB per GPU. */
function offloaded({ engine, extraArgs }: Spec, total: number): readonly Finding[] {
  const each = engine["cpuOffloadGb"];
  if (typeof each !== "number") return [];
  const count = gpusNeeded(engine, extraArgs);
  const needed = each * GIB * count;
  if (needed <= total) return [];
  return [
    {
      severity: "warning",
      code: "HOST_MEMORY_LOW",
      summary: `the host has ${sizeText(total)} of memory, and ${String(each)} GiB for each of ${String(count)} GPUs are to be kept there (${sizeText(needed)})`,
      path: "engine.cpuOffloadGb",
      change: "engine.cpuOffloadGb",
    },
  ];
}

/** Source: vLLM 0.32.0 model_executor/model_loader/weight_utils.py safetensors_weights_iterator: every worker reads all files, as a map. */
function cached({ checkpoint }: Observed, total: number): readonly Finding[] {
  if (checkpoint?.found !== true || checkpoint.weightBytes <= total) return [];
  return [
    {
      severity: "note",
      code: "HOST_MEMORY_LOW",
      summary: `the checkpoint (${sizeText(checkpoint.weightBytes)}) is larger than the host's memory (${sizeText(total)}): each start and each worker reads it from disk anew`,
    },
  ];
}
