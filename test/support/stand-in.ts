import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";

const laidOutSchema = z.object({ executable: z.string(), nvidiaSmiFolder: z.string() });

export interface StandInOptions {
  /** What `vllm --version` and the dist-info folder say; default "0.32.0". */
  readonly version?: string;
  /** A JSON file that describes the GPUs (stand-in/stand_in_vllm/gpu_state.py); default eight RTX PRO 6000. */
  readonly gpus?: string;
  /** The nvidiaSmiFolder of another layout, for two installations on one host. */
  readonly gpuFolder?: string;
}

export interface StandIn {
  /** The `vllm` of an environment laid out like a real one. */
  readonly executable: string;
  /** Put it on a host's PATH; holds nvidia-smi, gpus.json and who has memory on the GPUs. */
  readonly nvidiaSmiFolder: string;
}

/** Lays the stand-in vLLM and nvidia-smi out in `folder`, which the caller removes when no server of it runs any more. */
export function layOutStandIn(folder: string, options: StandInOptions = {}): StandIn {
  const words = [
    ...(options.version === undefined ? [] : ["--version", options.version]),
    ...(options.gpus === undefined ? [] : ["--gpus", options.gpus]),
    ...(options.gpuFolder === undefined ? [] : ["--gpu-folder", options.gpuFolder]),
  ];
  const program = join(import.meta.dirname, "stand-in", "lay_out.py");
  return laidOutSchema.parse(
    JSON.parse(execFileSync("python3", ["-B", program, folder, ...words], { encoding: "utf8" })),
  );
}
