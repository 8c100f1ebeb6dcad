import type { Finding } from "../finding";
import { KV_WISH_RULES } from "../kv-wish-rules";
import { GPU_RULES, kvDtypeOf } from "./gpu-rules";
import { PARALLEL_RULES } from "./parallel-rules";
import { isProven } from "./rule";
import type { Situation } from "./situation";
import { waysOut } from "./ways-out";

/**
 * What does not go together: "error" where a start is proven to fail, else "warning". A fact that is not known gives no finding.
 * Wishes for a KV cache that only may fail are not among them: chooseKvCacheFlag tells those.
 */
export function compatibilityFindings(situation: Situation): readonly Finding[] {
  const ofWish = wishFindings(situation);
  // The row of a wish says more than "no backend".
  const hasBackendRow = ofWish.length > 0;
  const ofTables = [...GPU_RULES, ...PARALLEL_RULES].flatMap((rule): readonly Finding[] => {
    if (rule.row === "no attention backend" && hasBackendRow) return [];
    const judged = rule.judge(situation);
    if (judged === null) return [];
    return [
      { severity: isProven(rule.fails, situation) ? "error" : "warning", code: "INCOMPATIBLE", ...judged },
    ];
  });
  return [...ofWish, ...ofTables];
}

function wishFindings(situation: Situation): readonly Finding[] {
  const { kv, gpus } = situation;
  // A rule that asks for GPUs takes those that say what they are; certain is only what holds for all.
  const isEachKnown = kv.capabilities.length === 0 || gpus !== null;
  if (!isEachKnown) return [];
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
