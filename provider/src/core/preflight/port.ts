import type { Finding } from "../finding";
import type { Observed, PortSeen } from "../observed";
import type { Spec } from "../spec";

type TakenPort = Extract<PortSeen, { free: false }>;

export function portFindings({ listen }: Spec, observed: Observed): readonly Finding[] {
  const seen = observed.port;
  if (seen.free || isOurs(observed, seen)) return [];
  return [
    {
      severity: "error",
      code: "PORT_IN_USE",
      summary: `port ${String(listen.port)} is taken by ${portHolder(seen)}`,
      path: "listen.port",
      change:
        seen.serverId === null
          ? "listen.port   (or stop what holds it)"
          : "listen.port   (or stop what holds it; a resource that only got another name keeps its server with the option `aliases`)",
    },
  ];
}

function isOurs({ server }: Observed, seen: TakenPort): boolean {
  if (seen.serverId !== null) return seen.serverId === server.owner?.serverId;
  return seen.pid !== null && server.processes.some((process) => process.pid === seen.pid);
}

function portHolder(seen: TakenPort): string {
  if (seen.serverId !== null) return `the server ${seen.serverId} of this tool`;
  if (seen.pid === null) return `a process of ${seen.user ?? "another user"} that cannot be seen`;
  return `process ${String(seen.pid)} of ${seen.user ?? "an unknown user"}: ${seen.command ?? "?"}`;
}
