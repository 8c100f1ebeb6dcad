import type { Finding } from "../finding";
import { modelPlace } from "../model-source";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

export function checkpointFindings(spec: Spec, { checkpoint }: Observed): readonly Finding[] {
  if (checkpoint === null) return [];
  if (!checkpoint.found) {
    // One of a hub is downloaded.
    if (spec.model.kind === "hub") return [];
    return [notFound(spec, `no checkpoint at ${checkpoint.path} (${checkpoint.reason})`)];
  }
  const loadFormat = spec.engine["loadFormat"] ?? "auto";
  const needsWeights = loadFormat === "auto" || loadFormat === "safetensors";
  if (checkpoint.weightFiles > 0 || !needsWeights) return [];
  return [notFound(spec, `${checkpoint.path} holds no weight files, need *.safetensors, *.bin or *.pt`)];
}

function notFound({ model }: Spec, summary: string): Finding {
  return {
    severity: "error",
    code: "CHECKPOINT_NOT_FOUND",
    summary,
    path: modelPlace(model),
    change:
      model.kind === "hub"
        ? "model.include, or another model.repo   (one with weights that vLLM loads)"
        : "model.path   (a folder on the host with config.json and the weights)",
  };
}
