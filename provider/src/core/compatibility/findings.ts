import type { Finding } from "../finding";
import { KV_WISH_RULES } from "../kv-wish-rules";
import { GPU_RULES, kvDtypeOf } from "./gpu-rules";
import { PARALLEL_RULES, smallerTensor } from "./parallel-rules";
import { type CompatibilityRule, isProven } from "./rule";
import type { Situation } from "./situation";
import { waysOut } from "./ways-out";

/**
 * What does not go together: "error" where a start is proven to fail, else "warning". A fact that is not known gives no finding.
 * Wishes for a KV cache that only may fail are not among them: chooseKvCacheFlag tells those.
 */
export function compatibilityFindings(situation: Situation): readonly Finding[] {
  const ofWish = wishFindings(situation);
  // A row of a wish says more than "no backend", here or among the warnings of chooseKvCacheFlag.
  const hasBackendRow = KV_WISH_RULES.some(
    (rule) => rule.code === "kv-dtype-not-supported" && rule.holds(situation.kv),
  );
  const ofGpus = GPU_RULES.filter((rule) => rule.row !== "no attention backend" || !hasBackendRow).flatMap(
    (rule) => findingsOf(rule, situation),
  );
  const ofSizes = PARALLEL_RULES.flatMap((rule) => findingsOf(rule, situation));
  // One size that does not divide is enough: the change is for all of them.
  const ofTensor = ofSizes.filter(({ path }) => path === TENSOR);
  return [...ofWish, ...ofGpus, ...ofTensor.slice(0, 1), ...ofSizes.filter(({ path }) => path !== TENSOR)];
}

const TENSOR = "engine.tensorParallelSize";

function findingsOf(rule: CompatibilityRule, situation: Situation): readonly Finding[] {
  const judged = rule.judge(situation);
  if (judged === null) return [];
  return [
    {
      severity: isProven(rule.fails, situation) ? "error" : "warning",
      code: "INCOMPATIBLE",
      ...judged,
      change: judged.change ?? `${TENSOR}: ${String(smallerTensor(situation))}`,
    },
  ];
}

function wishFindings(situation: Situation): readonly Finding[] {
  const { kv, gpus } = situation;
  return KV_WISH_RULES.filter(
    (rule) =>
      rule.fails !== undefined &&
      isProven(rule.fails, situation) &&
      // Backends are asked for on GPUs only.
      (rule.code !== "kv-dtype-not-supported" || gpus !== null) &&
      rule.holds(kv),
  ).map((rule) => ({
    severity: "error",
    code: "INCOMPATIBLE",
    summary: rule.message,
    change: rule.change ?? waysOutOf(situation) ?? "kvCacheDtype",
    path: "kvCacheDtype",
  }));
}

function waysOutOf(situation: Situation): string | null {
  const { kv, gpus } = situation;
  const kvDtype = kvDtypeOf(situation);
  if (kv.attentionKind === null || kv.version === null || gpus === null || kvDtype === null) return null;
  return waysOut({ kind: kv.attentionKind, kvDtype, version: kv.version, gpus });
}
