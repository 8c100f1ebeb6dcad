import type { KvSituation, Version } from "../kv-cache-situation";
import type { ModelFacts } from "./model-facts";

/** All that decides whether a model, a version of vLLM, GPUs and inputs go together, as far as it is known before the start. */
export interface Situation {
  readonly kv: KvSituation;
  /** The release whose changes it may have already: its own, or the next one of a build between two. null: not known. */
  readonly newestVersion: Version | null;
  readonly model: ModelFacts | null;
  /** Compute capability of every GPU that it may run on; null: one of them is not known, or it runs on none. */
  readonly gpus: readonly Version[] | null;
  /** Whether it will run on all of them; else on some, and nobody knows which. */
  readonly isOnEachGpu: boolean;
  readonly parallel: ParallelSizes;
  /** What is given as --dtype; null: nothing. */
  readonly dtypeArgument: string | null;
  /** Given as --quantization; null: what the checkpoint says. */
  readonly quantizationArgument: string | null;
  /** Given as --moe-backend; null: nothing. */
  readonly expertBackend: string | null;
  /**
   * Whether vLLM reads what is judged here: false where inputs change the config behind it (engine.hfOverrides, params.json) or how
   * MLA runs. Nothing is certain then.
   */
  readonly isAsRead: boolean;
}

export interface ParallelSizes {
  readonly tensor: number;
  readonly pipeline: number;
  readonly data: number;
  readonly isExpertParallel: boolean;
}

/** Versions from the first on and before the second; null: no end. */
export interface VersionRange {
  readonly since: Version | null;
  readonly before: Version | null;
}
