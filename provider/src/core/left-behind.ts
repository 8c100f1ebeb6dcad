import type { Spec } from "./spec";
import { hostCommand, shellWord } from "./ssh-command";

/**
 * What may still be on a host that did not answer when its server was forgotten, as the state last knew it, and how a person looks for it
 * and ends it.
 */
export function leftBehind(
  spec: Spec,
  serverId: string,
  outputs: Readonly<Record<string, unknown>>,
): readonly string[] {
  const { host } = spec.host;
  const { status, pid, gpuUuids, logPath } = outputs;
  const unit = unitOf(outputs);
  const facts = [
    unit === null ? [] : [`unit ${unit.name}${outputs["startsOnBoot"] === true ? " (starts at boot)" : ""}`],
    typeof pid === "number" ? [`pid ${String(pid)}`] : [],
    [`port ${String(spec.listen.port)}`],
    Array.isArray(gpuUuids) && gpuUuids.length > 0 ? [gpuUuids.join(", ")] : [],
  ].flat();
  const folder =
    typeof logPath === "string"
      ? logPath.split("/").slice(0, -2).join("/")
      : `~/.local/state/pulumi-vllm/${serverId}`;
  const { look, stop } = unit === null ? ofProcess(serverId, folder) : unit;
  return [
    `may still run on ${host}: server ${serverId}, last seen ${typeof status === "string" ? status : "unknown"}: ${facts.join(", ")}`,
    `look: ${hostCommand(spec.host, look)}`,
    `stop: ${hostCommand(spec.host, stop)}`,
  ];
}

interface Commands {
  readonly look: string;
  readonly stop: string;
}

function unitOf({
  serviceName,
  manager,
}: Readonly<Record<string, unknown>>): (Commands & { name: string }) | null {
  if (typeof serviceName !== "string") return null;
  const [ask, change] =
    manager === "systemd-user" ? ["systemctl --user", "systemctl --user"] : ["systemctl", "sudo systemctl"];
  return {
    name: serviceName,
    look: `${ask} status ${shellWord(serviceName)}`,
    stop: `${change} disable --now ${shellWord(serviceName)}`,
  };
}

/** By the variable that marks its processes: a recorded pid may be another's by then. The file keeps whoever looks after it from starting it again. */
function ofProcess(serverId: string, folder: string): Commands {
  const look = `grep -lsxz PULUMI_VLLM_SERVER=${serverId} /proc/[0-9]*/environ`;
  const intent = `touch ${shellWord(`${folder}/stop-intent`)}`;
  return { look, stop: `${intent}; ${look} | cut -d/ -f3 | xargs -r kill` };
}
