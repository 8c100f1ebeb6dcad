import { spec } from "../../support/host-facts";
import { clock, limits, running, shm, two, vllm } from "./examples";
import { describeExamples, type TitledExample } from "./telling";

const { service } = spec();
const byProcess = { ...service, manager: "process" } as const;

const EXAMPLES: readonly TitledExample[] = [
  [
    "a small /dev/shm, with a vLLM that refuses it",
    {
      fires: { wish: two, host: shm(64) },
      finding: {
        severity: "error",
        code: "SHM_TOO_SMALL",
        summary: "/dev/shm has 64 MiB free of 64 MiB, and 2 workers need 240 MiB for a queue",
        change:
          "on the host: sudo mount -o remount,size=8G /dev/shm   (of a container: --shm-size 8g, or --ipc=host; or free what is left in it)",
      },
      misses: {
        "just enough": { wish: two, host: shm(240) },
        "one worker, which needs none": { host: shm(64) },
        "several engines of one worker each": {
          wish: { ...two, engine: { dataParallelSize: 2 } },
          host: shm(64),
        },
        "workers that Ray starts": {
          wish: { ...two, engine: { ...two.engine, distributedExecutorBackend: "ray" } },
          host: shm(64),
        },
        "a size that is not known": { wish: two, host: { shmTotalBytes: null, shmFreeBytes: 0 } },
        "full of what the running server gives back": { wish: two, host: shm(64, 512), seen: running },
      },
    },
  ],
  [
    "a small /dev/shm, with a vLLM that does not look",
    {
      fires: { wish: two, host: shm(100, 64_000), seen: vllm("0.26.1") },
      finding: {
        severity: "warning",
        code: "SHM_TOO_SMALL",
        summary:
          "/dev/shm has 100 MiB free of 64000 MiB, and 2 workers need 240 MiB for a queue: under load they die of a bus error",
        change:
          "on the host: sudo mount -o remount,size=8G /dev/shm   (of a container: --shm-size 8g, or --ipc=host; or free what is left in it)",
      },
      misses: {},
    },
  ],
  [
    "few open files",
    {
      fires: { wish: { service: byProcess }, host: limits(1024, 4096) },
      finding: {
        severity: "warning",
        code: "OPEN_FILES_LOW",
        summary:
          'the login allows 1024 open files, and no more than 4096 when asked: vLLM wants 65535 and gives up on raising it; many clients at once end in "Too many open files"',
        path: "service.manager",
        change:
          "on the host: ann hard nofile 65535 in /etc/security/limits.conf, and log in anew   (of a container: --ulimit nofile=65535)",
      },
      misses: {
        "a hard limit up to which vLLM raises its own": {
          wish: { service: byProcess },
          host: limits(1024, 65_535),
        },
        "no hard limit": { wish: { service: byProcess }, host: limits(1024, -1) },
        "no limit": { wish: { service: byProcess }, host: limits(-1, -1) },
        "more of them": { wish: { service: byProcess }, host: limits(1025, 4096) },
        "a unit, which has limits of its own": {
          wish: { service: { ...service, manager: "systemd" } },
          host: limits(1024, 4096),
        },
        "a unit that is likely": { host: { ...limits(1024, 4096), lingers: false } },
        "not known": { wish: { service: byProcess } },
      },
    },
  ],
  [
    "a user who does not linger",
    {
      fires: { wish: { service: byProcess }, host: { lingers: false } },
      finding: {
        severity: "note",
        code: "LINGER_OFF",
        summary:
          "what ann runs ends with the last login where logind is told so (KillUserProcesses), and ann does not linger",
        path: "service.manager",
        change: 'on the host: sudo loginctl enable-linger ann   (or service.manager: "systemd")',
      },
      misses: {
        "one who does": { wish: { service: byProcess }, host: { lingers: true } },
        root: { wish: { service: byProcess }, host: { lingers: false, uid: 0, user: "root" } },
        "a manager that is not chosen yet": { host: { lingers: false } },
        "a host without systemd": { wish: { service: byProcess } },
      },
    },
  ],
  [
    "more to keep in memory than there is",
    {
      fires: {
        wish: { ...two, engine: { ...two.engine, cpuOffloadGb: 100 } },
        host: { memoryTotalBytes: 200e9 },
      },
      finding: {
        severity: "warning",
        code: "HOST_MEMORY_LOW",
        summary:
          "the host has 200.0 GB of memory, and 100 GiB for each of 2 GPUs are to be kept there (214.7 GB)",
        path: "engine.cpuOffloadGb",
        change: "engine.cpuOffloadGb",
      },
      misses: {
        "as much as there is": {
          wish: { engine: { cpuOffloadGb: 100 } },
          host: { memoryTotalBytes: 100 * 1024 ** 3 },
        },
        "not known": { wish: { engine: { cpuOffloadGb: 100_000 } } },
      },
    },
  ],
  [
    "a checkpoint that memory cannot hold",
    {
      fires: { host: { memoryTotalBytes: 0.9e9 } },
      finding: {
        severity: "note",
        code: "HOST_MEMORY_LOW",
        summary:
          "the checkpoint (1.0 GB) is larger than the host's memory (900.0 MB): each start and each worker reads it from disk anew",
      },
      misses: { "one that it can": { host: { memoryTotalBytes: 1e9 } }, "not known": {} },
    },
  ],
  [
    "a clock behind",
    {
      fires: clock(-61),
      finding: {
        severity: "warning",
        code: "CLOCK_OFF",
        summary:
          "the host's clock is 60 s behind this machine's: certificates and tokens may come to be taken for expired, or for not valid yet",
        change: "on the host: sudo timedatectl set-ntp true   (or the clock of this machine)",
      },
      misses: {
        "a minute": clock(-60),
        "an answer that was long under way": clock(62),
        "not known": { ...clock(0), host: {} },
        "a clock of ours that was set back": {
          ...clock(9000),
          asked: { from: new Date(Date.UTC(2026, 11, 1)), to: new Date(Date.UTC(2026, 10, 1)) },
        },
      },
    },
  ],
  [
    "a clock days ahead",
    {
      fires: clock(2 * 86_400 + 2),
      finding: {
        severity: "warning",
        code: "CLOCK_OFF",
        summary:
          "the host's clock is 48.0 h ahead of this machine's: certificates and tokens are likely to be taken for expired, or for not valid yet",
        change: "on the host: sudo timedatectl set-ntp true   (or the clock of this machine)",
      },
      misses: {},
    },
  ],
];

describeExamples(EXAMPLES);
