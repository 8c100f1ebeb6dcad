/** Amounts as a person reads them at a glance. */

const STEPS = ["B", "kB", "MB", "GB", "TB"] as const;

/** "540.1 GB": decimal, as disks and networks are sold. */
export function sizeText(bytes: number): string {
  const step = stepOf(bytes);
  return `${scaled(bytes, step)} ${STEPS[step] ?? ""}`;
}

/** "210.4/540.1 GB", both in the unit of the whole. */
export function sizesText(done: number, total: number): string {
  const step = stepOf(total);
  return `${scaled(done, step)}/${scaled(total, step)} ${STEPS[step] ?? ""}`;
}

/** "1.1 GB/s" */
export function rateText(bytesPerSecond: number): string {
  return `${sizeText(bytesPerSecond)}/s`;
}

/** "85 s", "5 min", "1.5 h" */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${String(Math.max(5, Math.round(seconds / 5) * 5))} s`;
  if (seconds < 5400) return `${String(Math.round(seconds / 60))} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** "131,072"; with one digit behind the point "8,192.0" */
export function countText(count: number, digits = 0): string {
  return count.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** "1 GPU", "8 GPUs" */
export function countedText(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}

function stepOf(bytes: number): number {
  const step = Math.floor(Math.log10(Math.max(1, bytes)) / 3);
  return Math.min(step, STEPS.length - 1);
}

/** One digit behind the point, from MB on. */
function scaled(bytes: number, step: number): string {
  return step < 2 ? String(Math.round(bytes / 1000 ** step)) : (bytes / 1000 ** step).toFixed(1);
}
