import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

/**
 * A server that no systemd runs belongs to the session of the login that started it. Root's are never ended so.
 * Source: systemd 252, logind.conf(5): KillUserProcesses, KillExcludeUsers; loginctl(1): enable-linger.
 */
export function lingerFindings({ service }: Spec, { host, server }: Observed): readonly Finding[] {
  const manager = service.manager === "auto" ? server.manager : service.manager;
  if (manager !== "process" || host.lingers !== false || host.uid === 0) return [];
  return [
    {
      severity: "note",
      code: "LINGER_OFF",
      summary: `what ${host.user} runs ends with the last login where logind is told so (KillUserProcesses), and ${host.user} does not linger`,
      path: "service.manager",
      change: `on the host: sudo loginctl enable-linger ${host.user}   (or service.manager: "systemd")`,
    },
  ];
}
