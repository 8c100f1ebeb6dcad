import type { Finding } from "../finding";
import type { Observed } from "../observed";
import type { Spec } from "../spec";

/** What vLLM raises its own limit to, where the hard one lets it; it does not try less. Source: vLLM 0.32.0 utils/system_utils.py set_ulimit. */
const RAISED_TO = 65_535;

/** Each connection of a client takes one; so do sockets and queues between processes. */
const FEW = 1024;

/** Only a server that no systemd runs has the limits of the login. */
export function openFilesFindings({ service }: Spec, { host, server }: Observed): readonly Finding[] {
  const { openFilesSoft: soft, openFilesHard: hard } = host;
  const manager = service.manager === "auto" ? server.manager : service.manager;
  const hasSystemd = host.lingers !== null;
  const isOfLogin = manager === "process" || (manager === null && !hasSystemd);
  if (!isOfLogin || soft === null || hard === null || !isBelow(soft, FEW + 1) || !isBelow(hard, RAISED_TO))
    return [];
  return [
    {
      severity: "warning",
      code: "OPEN_FILES_LOW",
      summary: `the login allows ${String(soft)} open files, and no more than ${String(hard)} when asked: vLLM wants ${String(RAISED_TO)} and gives up on raising it; many clients at once end in "Too many open files"`,
      path: "service.manager",
      change: `on the host: ${host.user} hard nofile ${String(RAISED_TO)} in /etc/security/limits.conf, and log in anew   (of a container: --ulimit nofile=${String(RAISED_TO)})`,
    },
  ];
}

/** -1: without limit. */
function isBelow(limit: number, other: number): boolean {
  return limit >= 0 && limit < other;
}
