import { isBefore, type Version } from "../kv-cache-situation";
import type { Situation, VersionRange } from "./situation";

/** One way in which a model, a version, GPUs and inputs do not go together. */
export interface CompatibilityRule {
  /** Name of the row, for tests. */
  readonly row: string;
  /** What was found and what is needed, and what to change; null: it does not hold, or a fact it needs is not known. */
  readonly judge: (situation: Situation) => Judgement | null;
  /** Versions of vLLM in which a start with it is proven to fail; elsewhere, and where the version is not known, it is a warning. null: in none. */
  readonly fails: VersionRange | null;
  /** Versions it was read in, and where it stands. */
  readonly source: string;
}

export interface Judgement {
  /** One clause: "<found>, need <wanted>". */
  readonly summary: string;
  /** null: a smaller engine.tensorParallelSize, the largest that no row finds fault with. */
  readonly change: string | null;
  /** Property path of the input at fault. */
  readonly path: string;
}

/** Whether a failure is proven in the version of a situation, and vLLM reads what was judged. */
export function isProven(range: VersionRange | null, situation: Situation): boolean {
  const { kv, newestVersion, isAsRead } = situation;
  if (range === null || !isAsRead || kv.version === null || newestVersion === null) return false;
  const { since, before } = range;
  return (
    (since === null || !isBefore(kv.version, since)) && (before === null || isBefore(newestVersion, before))
  );
}

/** A GPU that cannot do it, where a start would meet one; null: none, or it may run on others. */
export function stuckGpu(
  { gpus, isOnEachGpu }: Situation,
  isStuck: (gpu: Version) => boolean,
): Version | null {
  if (gpus === null || gpus.length === 0) return null;
  const found = gpus.find(isStuck);
  return found === undefined || !(isOnEachGpu || gpus.every(isStuck)) ? null : found;
}
