import type { Observed, ServerSeen } from "../observed";
import { driftLine } from "./drift";
import { driftOf } from "./drift-of";

/** Statuses that tell of something which happened to the server, not of what was done to it. */
const ACCIDENTS: ReadonlySet<ServerSeen["status"]> = new Set([
  "hung",
  "unresponsive",
  "restarting",
  "crashed",
  "crash-looping",
  "orphaned",
  "rebooted",
]);

/** What befell the server, or was changed on it by hand, in words, for whoever is about to repair it; null: nothing. */
export function accident(observed: Observed): string | null {
  const { status, restarts, logPath } = observed.server;
  const [first, ...others] = driftOf(observed);
  if (first === undefined) return null;
  if (first.path[0] !== "status") return `found: ${[first, ...others].map(driftLine).join("; ")}`;
  if (ACCIDENTS.has(status) || (status === "starting" && restarts > 0))
    return `found: ${first.words}${logPath === null ? "" : ` (log ${logPath})`}`;
  return others.length === 0 ? null : `found: ${others.map(driftLine).join("; ")}`;
}
