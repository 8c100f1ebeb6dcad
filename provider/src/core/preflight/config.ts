import { patchOf } from "../checkpoint-patch";
import type { Finding } from "../finding";
import { modelLabel, modelPlace } from "../model-source";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

/** Overrides that cannot be applied to the config of the checkpoint, or a config that nobody can read. */
export function configFindings(spec: Spec, { checkpoint }: Observed): readonly Finding[] {
  if (checkpoint?.found !== true) return [];
  const result = patchOf(spec, checkpoint.files);
  if (result.kind === "patched") return [];
  const place = modelPlace(spec.model);
  const isBrokenFile = result.code === "file-not-json";
  return [
    {
      severity: "error",
      code: "CONFIG_PATCH_REJECTED",
      summary: `the config of ${modelLabel(spec.model)} cannot be patched (${result.message})`,
      path: isBrokenFile ? place : result.path,
      change: isBrokenFile
        ? `${place}   (or repair its ${result.path}: vLLM cannot read it either)`
        : result.path,
    },
  ];
}
