import { crashLoopWords, lastCrashWords, times } from "../crash-loop";
import type { ExitSeen, Observed, PortSeen, ServerSeen } from "../observed";
import type { Drift, Repair } from "./drift";
import { hungWords, unresponsiveWords } from "./illness-words";

/** What the server does instead of answering; [] when it answers. */
export function statusDrift(observed: Observed): readonly Drift[] {
  const { status } = observed.server;
  const told = statusWords(observed);
  if (told === null) return [];
  const { words, repair } = told;
  const holder = foreignHolder(observed);
  return [
    { path: ["status"], found: status, words: holder === null ? words : `${words}; ${holder}`, repair },
  ];
}

/** That another resource has the server now; []: it has not. Claims of earlier versions have no number to compare. */
export function ownerDrift(observed: Observed, claimId: string | null): readonly Drift[] {
  const words = takenOver(observed, claimId);
  return words === null ? [] : [{ path: ["status"], found: "taken over", words, repair: "none" }];
}

/** The same in words; null: it has not. */
export function takenOver({ server }: Observed, claimId: string | null): string | null {
  const { owner } = server;
  if (owner === null || owner.claimId === null || claimId === null || owner.claimId === claimId) return null;
  return `a newer resource has taken it over (${owner.project}/${owner.stack}, ${owner.name})`;
}

function statusWords(observed: Observed): { readonly words: string; readonly repair: Repair } | null {
  const { server } = observed;
  const died = `it died${exitWords(server.lastExit)}`;
  switch (server.status) {
    case "ready":
      return null;
    case "absent":
      return { words: "no server of this resource is on the host", repair: "start" };
    case "stopped":
      return { words: "it is stopped", repair: "start" };
    case "starting":
      return {
        words:
          server.restarts === 0
            ? "it is starting and has not answered yet"
            : `${died}, was started again by itself and has not answered yet${lastCrashWords(observed)}`,
        repair: "wait",
      };
    case "hung":
      return { words: hungWords(observed), repair: "restart" };
    case "unresponsive":
      return { words: unresponsiveWords(observed), repair: "restart" };
    case "restarting":
      return { words: `${died} and is about to be restarted${lastCrashWords(observed)}`, repair: "restart" };
    case "crashed":
      return {
        words: isEndRecorded(server) ? `${died}${lastCrashWords(observed)}` : UNSEEN_END,
        repair: "start",
      };
    case "crash-looping":
      return { words: crashLoopWords(observed), repair: "start" };
    case "orphaned": {
      const pids = server.processes.map((process) => String(process.pid)).join(", ");
      return { words: `its supervisor is gone and processes are left (pid ${pids})`, repair: "restart" };
    }
    case "rebooted":
      return { words: "the host was rebooted", repair: "start" };
    default:
      return server.status satisfies never;
  }
}

/** Ended by hand, most likely: whoever records how a process ends was ended too. */
const UNSEEN_END = "it ended together with its supervisor, which left no word of it";

function isEndRecorded({ lastExit, generation }: ServerSeen): boolean {
  return lastExit !== null && lastExit.generation >= generation;
}

/** Who listens in the place of a server that does not; null: nobody. */
function foreignHolder({ server, port }: Observed): string | null {
  if (port.free || isOwn(server, port)) return null;
  const place = server.launch === null ? "its port" : `port ${String(server.launch.listen.port)}`;
  if (port.serverId !== null) return `${place} is taken by the server ${port.serverId}`;
  if (port.pid === null)
    return `${place} is taken by a process of ${port.user ?? "somebody"} that cannot be seen`;
  const holder = `process ${String(port.pid)} of ${port.user ?? "somebody"}: ${port.command ?? "?"}`;
  return `${place} is taken by a foreign process, which has to end before it can start again (${holder})`;
}

function isOwn(server: ServerSeen, port: Extract<PortSeen, { free: false }>): boolean {
  if (port.serverId !== null) return port.serverId === server.owner?.serverId;
  return server.processes.some((process) => process.pid === port.pid);
}

/** That a server which answers came back by itself since it was last looked at, and why it had died; null: it did not. */
export function recovery(
  observed: Observed,
  known: { readonly restarts: number; readonly bootId: string | null },
): string | null {
  const { server, host } = observed;
  if (server.status !== "ready") return null;
  if (known.bootId !== null && known.bootId !== host.bootId)
    return "the host was rebooted; the server came back by itself";
  if (server.restarts <= known.restarts) return null;
  return `it died${exitWords(server.lastExit)} and came back by itself (${times(server.restarts)} since it was last started)${lastCrashWords(observed)}`;
}

function exitWords(exit: ExitSeen | null): string {
  if (exit === null) return "";
  if (exit.signal !== null) return ` (signal ${String(exit.signal)})`;
  return exit.code === null ? "" : ` (exit code ${String(exit.code)})`;
}
