import { isOfMethod } from "../config-patch/read-config";
import { isBefore, type Version } from "../kv-cache-situation";
import { type CompatibilityRule, stuckGpu } from "./rule";
import type { Situation } from "./situation";
import { LATEST_READ } from "./versions";

/** One kernel for NVFP4 experts, by vLLM's name for it, and the GPUs that it runs on. */
export interface ExpertBackendRow {
  readonly backend: string;
  /** Compute capabilities from the first on and before the second. */
  readonly gpus: readonly [Version, Version];
  readonly source: string;
}

const EXPERTS = "model_executor/layers/fused_moe";

/** _supports_current_device of each, the same in 0.18.0, 0.20.0, 0.24.0, 0.28.0, 0.32.0 and 0.33.0. */
export const EXPERT_BACKENDS: readonly ExpertBackendRow[] = [
  {
    backend: "flashinfer_trtllm",
    gpus: [
      [10, 0],
      [11, 0],
    ],
    source: `vLLM 0.18.0 to 0.33.0 ${EXPERTS}/experts/trtllm_nvfp4_moe.py`,
  },
  {
    backend: "flashinfer_cutedsl",
    gpus: [
      [10, 0],
      [11, 0],
    ],
    source: `vLLM 0.18.0 to 0.33.0 ${EXPERTS}/experts/flashinfer_cutedsl_moe.py`,
  },
  {
    backend: "flashinfer_cutlass",
    gpus: [
      [10, 0],
      [13, 0],
    ],
    source: `vLLM 0.18.0 to 0.33.0 ${EXPERTS}/experts/flashinfer_cutlass_moe.py (9.0 for other formats only)`,
  },
  {
    backend: "cutlass",
    gpus: [
      [10, 0],
      [13, 0],
    ],
    source: `vLLM 0.18.0 to 0.33.0 ${EXPERTS}/experts/cutlass_moe.py CutlassExpertsFp4`,
  },
  {
    backend: "flashinfer_b12x",
    gpus: [
      [12, 0],
      [13, 0],
    ],
    source: `vLLM 0.24.0 to 0.33.0 ${EXPERTS}/experts/flashinfer_b12x_moe.py`,
  },
  {
    backend: "marlin",
    gpus: [
      [7, 5],
      [99, 0],
    ],
    source: `vLLM 0.18.0 to 0.33.0 ${EXPERTS}/experts/marlin_moe.py`,
  },
];

export const EXPERT_BACKEND_RULE: CompatibilityRule = {
  row: "NVFP4 experts on a kernel of other GPUs",
  judge: (situation) => {
    const { model, gpus, expertBackend } = situation;
    const row = EXPERT_BACKENDS.find(({ backend }) => backend === expertBackend);
    if (row === undefined || gpus === null || (model?.experts ?? 0) === 0 || !hasNvfp4Experts(situation))
      return null;
    const other = stuckGpu(situation, (gpu) => !runsOn(row, gpu));
    if (other === null) return null;
    const works = EXPERT_BACKENDS.filter((one) => gpus.every((gpu) => runsOn(one, gpu)));
    return {
      summary: `moe-backend ${row.backend} has no NVFP4 experts for compute capability ${other.join(".")}`,
      change: `extraArgs["moe-backend"]   ("auto"${works.map(({ backend }) => `, "${backend}"`).join("")})`,
      path: "extraArgs.moe-backend",
    };
  },
  fails: { since: [0, 18], before: LATEST_READ },
  source: `vLLM 0.18.0 to 0.33.0 ${EXPERTS}/oracle/nvfp4.py select_nvfp4_moe_backend: does not support the deployment configuration`,
};

function runsOn({ gpus: [low, high] }: ExpertBackendRow, gpu: Version): boolean {
  return !isBefore(gpu, low) && isBefore(gpu, high);
}

/** Experts that the checkpoint leaves in 16 bits run on other kernels. */
function hasNvfp4Experts({ kv: { config } }: Situation): boolean {
  const kept = config?.value("ignore") ?? config?.value("exclude_modules") ?? [];
  return (
    isOfMethod(config, "modelopt*") &&
    config?.algorithm === "NVFP4" &&
    !JSON.stringify(kept).includes("experts")
  );
}
