import type { ExitSeen, Observed } from "./observed";

/**
 * In words, why the host is not as this state believes; [] when it is.
 * @param expectedHash configHash of the state; null: no declaration is expected.
 */
export function driftOf(observed: Observed, expectedHash: string | null): readonly string[] {
  const { server } = observed;
  const reasons: string[] = [];
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
      reasons.push("it is starting and has not answered yet");
      break;
    case "unresponsive":
      reasons.push("its process lives but does not answer /health");
      break;
    case "restarting":
      reasons.push(`it died${exitWords(server.lastExit)} and is about to be restarted`);
      break;
    case "crashed":
      reasons.push(`it died${exitWords(server.lastExit)}`);
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

function exitWords(exit: ExitSeen | null): string {
  if (exit === null) return "";
  if (exit.signal !== null) return ` (signal ${String(exit.signal)})`;
  return exit.code === null ? "" : ` (exit code ${String(exit.code)})`;
}
