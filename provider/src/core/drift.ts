import { crashLoopWords, lastCrashWords, times } from "./crash-loop";
import type { ExitSeen, Observed, ServerSeen } from "./observed";

/**
 * In words, why the host is not as this state believes; [] when it is.
 * @param expectedHash configHash of the state; null: no declaration is expected.
 * @param claimId of the resource in the state; null: not recorded, then whoever has the server is the right one.
 */
export function driftOf(
  observed: Observed,
  expectedHash: string | null,
  claimId: string | null = null,
): readonly string[] {
  const { server } = observed;
  const newer = takenOver(observed, claimId);
  const reasons: string[] = newer === null ? [] : [newer];
  switch (server.status) {
    case "ready":
      break;
    case "absent":
      reasons.push("no server of this resource is on the host");
      break;
    case "stopped":
      reasons.push("it is stopped");
      break;
    case "starting":
      reasons.push(
        server.restarts === 0
          ? "it is starting and has not answered yet"
          : `it died${exitWords(server.lastExit)}, was started again by itself and has not answered yet${lastCrashWords(observed)}`,
      );
      break;
    case "unresponsive":
      reasons.push("its process lives but does not answer /health");
      break;
    case "restarting":
      reasons.push(
        `it died${exitWords(server.lastExit)} and is about to be restarted${lastCrashWords(observed)}`,
      );
      break;
    case "crashed":
      reasons.push(`it died${exitWords(server.lastExit)}${lastCrashWords(observed)}`);
      break;
    case "crash-looping":
      reasons.push(crashLoopWords(observed));
      break;
    case "orphaned": {
      const pids = server.processes.map((process) => String(process.pid)).join(", ");
      reasons.push(`its supervisor is gone and processes are left (pid ${pids})`);
      break;
    }
    case "rebooted":
      reasons.push("the host was rebooted");
      break;
    default:
      return server.status satisfies never;
  }
  if (server.launch === null) return reasons;
  if (expectedHash !== null && server.launch.fingerprint !== expectedHash) {
    reasons.push(
      `another declaration was started (configHash ${expectedHash} -> ${server.launch.fingerprint})`,
    );
  }
  if (server.modelPathIntact === false) reasons.push(`files of ${server.launch.modelPath} are missing`);
  if (server.secretsMatch === false) reasons.push("its secrets are not the declared ones");
  return reasons;
}

/** That another resource has the server now, in words; null: it has not. Claims of earlier versions have no number to compare. */
export function takenOver({ server }: Observed, claimId: string | null): string | null {
  const { owner } = server;
  if (owner === null || owner.claimId === null || claimId === null || owner.claimId === claimId) return null;
  return `a newer resource has taken it over (${owner.project}/${owner.stack}, ${owner.name})`;
}

/** Statuses that tell of something which happened to the server, not of what was done to it. */
const ACCIDENTS: ReadonlySet<ServerSeen["status"]> = new Set([
  "unresponsive",
  "restarting",
  "crashed",
  "crash-looping",
  "orphaned",
  "rebooted",
]);

/** What befell the server, in words, for whoever is about to repair it; null: nothing. */
export function accident(observed: Observed): string | null {
  const { status, restarts, logPath } = observed.server;
  if (!ACCIDENTS.has(status) && !(status === "starting" && restarts > 0)) return null;
  const [reason] = driftOf(observed, null);
  return `found: ${reason ?? status}${logPath === null ? "" : ` (log ${logPath})`}`;
}

/** That a server which answers came back by itself since it was last looked at; null: it did not. */
export function recovery({ status, restarts, lastExit }: ServerSeen, knownRestarts: number): string | null {
  if (status !== "ready" || restarts <= knownRestarts) return null;
  return `it died${exitWords(lastExit)} and came back by itself (${times(restarts)} since it was last started)`;
}

function exitWords(exit: ExitSeen | null): string {
  if (exit === null) return "";
  if (exit.signal !== null) return ` (signal ${String(exit.signal)})`;
  return exit.code === null ? "" : ` (exit code ${String(exit.code)})`;
}
