import { countText } from "./amount-text";
import { kvCacheDtypeOf } from "./kv-cache-granted";
import type { ReadyRecord } from "./observed";

/** What an operation that ended with a ready server took. */
export interface TimeSpent {
  /** Whole operation, seconds. */
  readonly total: number;
  /** Of the installation and of the download, seconds; null: the declaration has none. */
  readonly install: number | null;
  readonly download: number | null;
}

/** Source: vLLM 0.32.0 v1/core/kv_cache_utils.py; the same words on a line of their own in vllm 0.6 to 0.31. */
const CONCURRENCY = /Maximum concurrency for [\d,]+ tokens per request: ([\d.]+)x/;

/** How many of the longest requests fit at once, as a line of vLLM's log tells it; null: the line does not. */
export function concurrencyIn(line: string): number | null {
  const [, times] = CONCURRENCY.exec(line) ?? [];
  return times === undefined ? null : Number(times);
}

/** "ready in 312 s: download 0, start 304; 131,072 tokens, KV cache bfloat16, 3.2x concurrency" */
export function readyWords(ready: ReadyRecord, spent: TimeSpent, concurrency: number | null): string {
  const parts = [
    spent.install === null ? [] : [`install ${whole(spent.install)}`],
    spent.download === null ? [] : [`download ${whole(spent.download)}`],
    [`start ${whole(ready.startSeconds)}`],
  ].flat();
  const kvCacheDtype = kvCacheDtypeOf(ready);
  const facts = [
    ready.maxModelLen === null ? [] : [`${countText(ready.maxModelLen)} tokens`],
    kvCacheDtype === null ? [] : [`KV cache ${kvCacheDtype}`],
    concurrency === null ? [] : [`${concurrency.toFixed(1)}x concurrency`],
  ].flat();
  const total = Math.max(spent.total, (spent.install ?? 0) + (spent.download ?? 0) + ready.startSeconds);
  return `ready in ${whole(total)} s: ${parts.join(", ")}${facts.length === 0 ? "" : `; ${facts.join(", ")}`}`;
}

function whole(seconds: number): string {
  return String(Math.round(seconds));
}
