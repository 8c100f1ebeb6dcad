import { z } from "zod";

/** A process of a server that does not get on, as it was seen. Crosses an edge: parsed in remote/, trusted afterwards. */
export const stuckProcessSchema = z.object({
  pid: z.number(),
  command: z.string(),
  /** Letter of /proc/PID/stat, of the thread that tells most. */
  state: z.string(),
  /** Where that thread waits in the kernel; null: it runs, or the kernel does not tell. */
  place: z.string().nullable(),
  /** How many it kept busy of late. */
  cpuCores: z.number(),
});
export type StuckProcess = z.infer<typeof stuckProcessSchema>;

/** Of so many processes it is told what they wait in. */
const MOST_TOLD = 4;
/** More than this is no looking around now and then. */
const SPINNING_CORES = 0.5;

/** Of these, the ones whose state explains a hang by itself: they sit in the kernel, are stopped, or keep a core busy. */
export function telling(processes: readonly StuckProcess[]): readonly StuckProcess[] {
  return processes.filter(({ state, cpuCores }) => /^[DTt]$/.test(state) || cpuCores >= SPINNING_CORES);
}

/** "VLLM::Worker_TP0 (pid 12) waits in nfs_wait_bit_killable (state D); ..." */
export function processWords(processes: readonly StuckProcess[]): string | undefined {
  if (processes.length === 0) return undefined;
  const all = processes
    .filter(({ command }) => !/resource_tracker/.test(command))
    .sort((one, other) => rankOf(one) - rankOf(other));
  const words = all.slice(0, MOST_TOLD).map((process) => `${titleOf(process)} ${waitsIn(process)}`);
  const rest = all.length - words.length;
  return [...words, ...(rest > 0 ? [`${String(rest)} more`] : [])].join("; ");
}

/** What sits in the kernel or is stopped first, then what keeps a core busy, then workers and engines before the API server, which waits for them. */
function rankOf({ state, cpuCores, command }: StuckProcess): number {
  if (/^[DTt]$/.test(state)) return 0;
  if (cpuCores >= SPINNING_CORES) return 1;
  return / serve /.test(command) ? 3 : 2;
}

function titleOf({ command, pid }: StuckProcess): string {
  const title = / serve /.test(command) ? "API server" : command.trim().slice(0, LONGEST_TITLE);
  return `${title} (pid ${String(pid)})`;
}

const LONGEST_TITLE = 40;

function waitsIn({ state, place, cpuCores }: StuckProcess): string {
  // Whole ones: they are told again by each look, and must not look like news.
  const cores = Math.max(1, Math.round(cpuCores));
  if (cpuCores >= SPINNING_CORES) return `keeps ${cores === 1 ? "a core" : `${String(cores)} cores`} busy`;
  return place === null ? `is in state ${state}` : `waits in ${place} (state ${state})`;
}
