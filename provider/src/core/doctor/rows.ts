import { countedText, sizeText } from "../amount-text";
import type { GpuSeen, ServerSeen } from "../observed";
import type { HostSurvey } from "../observed-survey";

/** One fact of a host as a person reads it. */
export interface Fact {
  readonly label: string;
  readonly text: string;
}

type Row = (survey: HostSurvey) => readonly Fact[];

/** Every fact, in the order in which they are told. null: the host does not tell it, and neither does the row. */
const ROWS: readonly Row[] = [
  row("system", ({ machine: { host } }) =>
    joined([
      host.hostname,
      `user ${host.user}`,
      `Python ${host.pythonVersion}`,
      counted(host.processors, "processor"),
    ]),
  ),
  row("memory", ({ machine: { host } }) => ofWhole(host.memoryAvailableBytes, host.memoryTotalBytes)),
  row("/dev/shm", ({ machine: { host } }) => ofWhole(host.shmFreeBytes, host.shmTotalBytes)),
  row("disk", ({ machine: { host } }) => `${sizeText(host.diskFreeBytes)} free at ${host.stateRoot}`),
  row("limits", ({ machine: { host } }) =>
    joined([
      limitText("open files", host.openFilesSoft, String),
      limitText("at most", host.openFilesHard, String),
      limitText("locked memory", host.lockedMemoryBytes, sizeText),
    ]),
  ),
  row("clock", ({ machine: { host } }) =>
    host.clockSeconds === null
      ? null
      : `${new Date(host.clockSeconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`,
  ),
  row("driver", ({ machine: { gpus } }) => gpus?.[0]?.driverVersion ?? null),
  row("GPUs", ({ machine: { gpus, gpuError } }) =>
    (gpus ?? []).length > 0 ? null : (gpuError ?? "none: there is no nvidia-smi"),
  ),
  ({ machine: { gpus } }) =>
    (gpus ?? []).map((gpu) => ({ label: `GPU ${String(gpu.index)}`, text: gpuText(gpu) })),
  row("vLLM", ({ executable }) =>
    executable.found ? `${executable.version ?? "unknown version"} at ${executable.path}` : executable.reason,
  ),
  ({ missingTools }) =>
    missingTools.length === 0
      ? [{ label: "compilers", text: "all that vLLM can need" }]
      : missingTools.map((text) => ({ label: "compilers", text })),
  row("hub client", ({ hubClient }) => hubClient ?? "none; one is brought when a checkpoint is downloaded"),
  ({ managers }) =>
    managers.map(({ name, reason }) => ({
      label: "manager",
      text: reason === null ? name : `not ${name}: ${reason}`,
    })),
  ({ servers }) =>
    servers.map(({ serverId, server }) => ({ label: "server", text: serverText(serverId, server) })),
];

export function surveyFacts(survey: HostSurvey): readonly Fact[] {
  return ROWS.flatMap((facts) => facts(survey));
}

function row(label: string, textOf: (survey: HostSurvey) => string | null): Row {
  return (survey) => {
    const text = textOf(survey);
    return text === null ? [] : [{ label, text }];
  };
}

function gpuText({
  name,
  uuid,
  computeCapability,
  memoryTotalMib,
  memoryUsedMib,
  processes,
  reservedBy,
}: GpuSeen): string {
  const holders = processes.map(({ pid, user, command, serverId, usedMib }) => {
    const used = usedMib === null ? [] : [`${String(usedMib)} MiB`];
    const whose = serverId ?? [user, command].filter((word) => word !== null).join(": ");
    return `process ${String(pid)} (${[...(whose === "" ? [] : [whose]), ...used].join(", ")})`;
  });
  const facts = [
    name,
    computeCapability === null ? null : `compute capability ${computeCapability}`,
    `${String(memoryUsedMib)} of ${String(memoryTotalMib)} MiB used`,
    uuid,
    holders.length === 0 ? null : `held by ${holders.join(", ")}`,
    reservedBy === null ? null : `of server ${reservedBy}`,
  ];
  return joined(facts) ?? name;
}

function serverText(serverId: string, server: ServerSeen | null): string {
  if (server === null) return `${serverId}: it could not be looked at`;
  const { owner, status, launch, manager } = server;
  const name = owner === null ? serverId : `${owner.name} (${owner.project}/${owner.stack})`;
  const listen = launch === null ? [] : [`${launch.listen.address}:${String(launch.listen.port)}`];
  return [`${name}: ${status}`, ...listen, ...(manager === null ? [] : [manager])].join(", ");
}

function ofWhole(free: number | null, total: number | null): string | null {
  if (free === null) return total === null ? null : sizeText(total);
  return total === null ? `${sizeText(free)} free` : `${sizeText(free)} of ${sizeText(total)} free`;
}

function limitText(what: string, limit: number | null, textOf: (limit: number) => string): string | null {
  if (limit === null) return null;
  return `${what} ${limit < 0 ? "without limit" : textOf(limit)}`;
}

function counted(count: number | null, what: string): string | null {
  return count === null ? null : countedText(count, what);
}

function joined(parts: readonly (string | null)[]): string | null {
  const told = parts.filter((part) => part !== null);
  return told.length === 0 ? null : told.join(", ");
}
