import type { InputPath } from "../input-path";
import type { Observed } from "../observed";
import type { Differences } from "../observed-differences";
import type { Drift } from "./drift";

/** What stands beside the process: where it listens, the files it serves, its GPUs, its vLLM, its unit. */
export function hostDrift(observed: Observed): readonly Drift[] {
  return [
    ...listenDrift(observed),
    ...overlayDrift(observed),
    ...gpuDrift(observed),
    ...versionDrift(observed),
    ...unitDrift(observed),
  ];
}

function listenDrift({ server: { differences, launch } }: Observed): readonly Drift[] {
  const { listening } = differences;
  if (listening === null || launch === null) return [];
  const place = (path: InputPath, found: string | number, declared: string | number): Drift => ({
    path,
    found,
    words: `${String(found)} is listened on, declared ${String(declared)}`,
    repair: "restart",
  });
  return [
    ...(listening.port === launch.listen.port
      ? []
      : [place(["listen", "port"], listening.port, launch.listen.port)]),
    ...(listening.address === launch.listen.address
      ? []
      : [place(["listen", "address"], listening.address, launch.listen.address)]),
  ];
}

const OVERLAY_WORDS = {
  changed: "was changed",
  missing: "is missing",
  added: "was added",
  redirected: "is no link into the checkpoint any more",
} as const satisfies Readonly<Record<Differences["overlay"][number]["kind"], string>>;

function overlayDrift({ server: { differences, launch } }: Observed): readonly Drift[] {
  const { overlay } = differences;
  if (launch === null || overlay.length === 0) return [];
  const what = overlay.map(({ file, kind }) => `${file} ${OVERLAY_WORDS[kind]}`).join(", ");
  const isRead = overlay.some((entry) => entry.isRead);
  return [
    {
      path: ["modelPath"],
      found: `${launch.modelPath} (${what})`,
      words: `in ${launch.modelPath} ${what}, ${isRead ? "before the running server was started" : "since the server was started"}`,
      repair: isRead ? "restart" : "live",
    },
  ];
}

function gpuDrift({ server, gpus, gpuError }: Observed): readonly Drift[] {
  const recorded = server.launch?.gpuUuids ?? [];
  // A slice of a GPU has a name that nvidia-smi does not list.
  if (
    server.leader === null ||
    gpus === null ||
    !recorded.every((uuid) => uuid.startsWith("GPU-")) ||
    recorded.length === 0
  )
    return [];
  const gone = recorded.filter((uuid) => !gpus.some((gpu) => gpu.uuid === uuid));
  const elsewhere = gpus
    .filter(
      ({ uuid, processes }) => !recorded.includes(uuid) && processes.some(isOwn(server.owner?.serverId)),
    )
    .map(({ uuid }) => uuid);
  const why = gone.length === 0 || gpuError === null ? "" : ` (${gpuError})`;
  const words = [
    ...(gone.length === 0 ? [] : [`${gone.join(", ")} not on the host any more${why}`]),
    ...(elsewhere.length === 0 ? [] : [`computes on ${elsewhere.join(", ")}`]),
  ];
  if (words.length === 0) return [];
  const found = [...recorded.filter((uuid) => !gone.includes(uuid)), ...elsewhere];
  return [
    {
      path: ["gpuUuids"],
      found,
      words: `${words.join("; ")}; started on ${recorded.join(", ")}`,
      repair: "restart",
    },
  ];
}

function isOwn(serverId: string | undefined): (process: { readonly serverId: string | null }) => boolean {
  return (process) => serverId !== undefined && process.serverId === serverId;
}

function versionDrift({ server: { launch, leader }, executable }: Observed): readonly Drift[] {
  const started = launch?.vllmVersion ?? null;
  if (started === null || leader === null || executable?.found !== true) return [];
  const { path, version } = executable;
  if (path !== launch?.executable || version === null || version === started) return [];
  return [
    {
      path: ["vllmVersion"],
      found: started,
      words: `${started} runs, ${version} is installed now`,
      repair: "restart",
    },
  ];
}

function unitDrift({ server: { unit, launch } }: Observed): readonly Drift[] {
  if (unit === null) return [];
  const wanted = launch?.startOnBoot ?? unit.isEnabled;
  return [
    ...(unit.isEdited
      ? [drift(["serviceName"], `${unit.name} (edited)`, `${unit.name} was edited since it was installed`)]
      : []),
    ...(unit.isEnabled === wanted
      ? []
      : [
          drift(
            ["service", "startOnBoot"],
            unit.isEnabled,
            `${unit.name} is ${unit.isEnabled ? "enabled" : "disabled"}, declared ${String(wanted)}`,
          ),
        ]),
  ];
}

function drift(path: InputPath, found: string | boolean, words: string): Drift {
  return { path, found, words, repair: "live" };
}
