import { describe, expect, test } from "vitest";
import { type Diagnosis, diagnose } from "../../../provider/src/core/diagnose";
import { xidIn } from "../../../provider/src/core/xids";

const STARTED = "(APIServer pid=1) INFO 12-01 10:00:00 [model.py:1] Resolved architecture: X\n";
const READY = `${STARTED}(APIServer pid=1) INFO:     Application startup complete.\n`;
const WRAPPER =
  "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': -9}\n";
const worker = (text: string): string => `(Worker_TP1 pid=181) ERROR 12-01 10:00:09 [x.py:1] ${text}\n`;

const OOM =
  "[ 2211.5] Out of memory: Killed process 180 (VLLM::EngineCor) total-vm:98210532kB, anon-rss:62914560kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:131072kB oom_score_adj:0";
const OOM_OF_GROUP = [
  "[ 2211.4] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/docker/ab12,task_memcg=/docker/ab12,task=VLLM::EngineCor,pid=180,uid=0",
  "[ 2211.5] Memory cgroup out of memory: Killed process 180 (VLLM::EngineCor) total-vm:98210532kB, anon-rss:62914560kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:131072kB oom_score_adj:0",
];
const xid = (number: number, text: string): string =>
  `[ 2211.5] NVRM: Xid (PCI:0000:41:00): ${String(number)}, pid=181, name=VLLM::Worker_TP, ${text}`;
const FALLEN = xid(79, "GPU has fallen off the bus.");

function of(
  log: string,
  kernel: readonly string[],
  exitCode: number | null = 1,
  signal: number | null = null,
): Diagnosis {
  return diagnose({ log, exitCode, signal, kernel });
}

test("a process that the kernel killed is told by the kernel's line", () => {
  expect(of(STARTED + WRAPPER, [OOM])).toEqual({
    cause: "HOST_OOM_KILLED",
    summary: "the kernel killed VLLM::EngineCor (process 180) because the host had no memory left",
    evidence: OOM,
    logLine: null,
    place: "kernel",
    change:
      "host: more memory, or fewer other programs; environment.MAX_JOBS lower; engine.cpuOffloadGb (--cpu-offload-gb) lower",
    values: { pid: 180 },
    retryable: false,
  });
});

test("a limit of a control group is told from a host without memory", () => {
  expect(of(STARTED + WRAPPER, OOM_OF_GROUP)).toMatchObject({
    cause: "HOST_OOM_KILLED",
    summary:
      "the kernel killed VLLM::EngineCor (process 180) because its control group came to its memory limit",
    evidence: OOM_OF_GROUP[1],
    values: { pid: 180 },
  });
  expect(of(STARTED, OOM_OF_GROUP.slice(0, 1), null, 9)).toMatchObject({
    cause: "HOST_OOM_KILLED",
    evidence: OOM_OF_GROUP[0],
    values: { pid: 180 },
  });
});

test("a GPU that failed is told by the driver's line", () => {
  expect(of(STARTED + worker("torch.AcceleratorError: CUDA error: unknown error"), [FALLEN])).toEqual({
    cause: "GPU_HARDWARE_ERROR",
    summary: "GPU 0000:41:00: the GPU has fallen off the bus (Xid 79)",
    evidence: FALLEN,
    logLine: null,
    place: "kernel",
    change:
      "host: reboot; power, cooling and slot of the GPU if it comes again; dmesg and nvidia-smi tell more",
    values: { xid: 79, device: "0000:41:00", pid: 181 },
    retryable: false,
  });
});

describe("what the log says, and what the kernel says", () => {
  const nccl = worker("torch.distributed.DistBackendError: NCCL error in: x, remote process exited");
  test.each<[string, string, readonly string[], number | null, string, string | null]>([
    ["a start that hangs after a kill", STARTED, [OOM], null, "HOST_OOM_KILLED", "kernel"],
    ["the others lost their peer", STARTED + nccl, [OOM], 1, "HOST_OOM_KILLED", "kernel"],
    [
      "the API server waited in vain",
      `${STARTED}TimeoutError: Timed out waiting for engine core processes to start.\n`,
      [OOM],
      1,
      "HOST_OOM_KILLED",
      "kernel",
    ],
    [
      "a compiler of a JIT build was killed",
      `${STARTED}(EngineCore pid=7) RuntimeError: Ninja build failed. Ninja output:\n`,
      ["[ 1.5] Out of memory: Killed process 912 (cicc) total-vm:1kB"],
      1,
      "HOST_OOM_KILLED",
      "kernel",
    ],
    [
      "a root exception that a rule knows",
      `${STARTED}(EngineCore pid=7) ValueError: No available memory for the cache blocks.\n`,
      [OOM, FALLEN],
      1,
      "KV_CACHE_NO_MEMORY",
      "engine core",
    ],
    [
      "a root exception that no rule knows",
      `${STARTED}(EngineCore pid=7) ZeroDivisionError: division by zero\n`,
      [OOM, FALLEN],
      1,
      "UNKNOWN",
      "engine core",
    ],
    ["after ready, while it serves", READY, [OOM, FALLEN], null, "NO_FAILURE", null],
    [
      "after ready, and it failed",
      `${READY}EngineCore encountered a fatal error.\n${worker("RuntimeError: CUDA error: an illegal memory access was encountered")}`,
      [xid(95, "Uncontained ECC error")],
      0,
      "GPU_HARDWARE_ERROR",
      "kernel",
    ],
    [
      "a kernel that crashed, with the driver's word for it",
      STARTED + worker("RuntimeError: CUDA error: an illegal memory access was encountered"),
      [xid(31, "Ch 00000008, intr 00000000. MMU Fault"), xid(43, "Ch 00000008"), xid(45, "Ch 00000010")],
      1,
      "CUDA_ILLEGAL_ACCESS",
      "worker 1",
    ],
    [
      "a crash of which only the driver tells",
      STARTED,
      [xid(31, "MMU Fault")],
      -6,
      "CUDA_ILLEGAL_ACCESS",
      "kernel",
    ],
    ["a process that was cleared away", STARTED, [xid(43, "x"), xid(45, "x")], -6, "UNKNOWN", null],
    ["memory that is only marked", STARTED, [xid(63, "Row Remapper: New row marked")], -6, "UNKNOWN", null],
    ["a number that no table has", STARTED, [xid(9999, "x")], -6, "UNKNOWN", null],
    ["nothing of this start", STARTED, ["[ 2211.5] usb 1-1: new device"], -6, "UNKNOWN", null],
  ])("%s", (_name, log, kernel, exitCode, cause, place) => {
    const found = of(log, kernel, exitCode);
    expect([found.cause, found.place === "API server" ? null : found.place]).toEqual([cause, place]);
  });
});

test.each<[string, string, number | null, number | null, readonly string[] | undefined, string]>([
  ["nobody could read the kernel's log", STARTED, null, 9, undefined, "HOST_OOM_KILLED"],
  ["the kernel's log has no such thing", STARTED, null, 9, [], "TERMINATED_BY_SIGNAL"],
  ["an engine, and nobody could read", STARTED + WRAPPER, 1, null, undefined, "HOST_OOM_KILLED"],
  [
    "an engine, and the kernel's log has no such thing",
    STARTED + WRAPPER,
    1,
    null,
    [],
    "TERMINATED_BY_SIGNAL",
  ],
  [
    "a worker, and the kernel's log has no such thing",
    `${STARTED}Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shutting down executor.\n`,
    1,
    null,
    [],
    "TERMINATED_BY_SIGNAL",
  ],
  ["a crash of the engine", STARTED + WRAPPER.replace("-9", "-11"), 1, null, [], "UNKNOWN"],
  ["Kubernetes says who it was", `${STARTED}OOMKilled\n`, 137, null, [], "HOST_OOM_KILLED"],
])("who killed it: %s", (_name, log, exitCode, signal, kernel, cause) => {
  expect(diagnose({ log, exitCode, signal, kernel }).cause).toBe(cause);
});

test.each([
  [
    "NVRM: Xid (PCI:0000:41:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error",
    48,
    null,
  ],
  ["NVRM: Xid (0000:41:00): 79, GPU has fallen off the bus.", 79, null],
  [
    "NVRM: Xid (PCI:0000:41:00): 119, pid=7, name=x, Timeout after 6s of waiting for RPC response from GPU0 GSP!",
    119,
    7,
  ],
])("the driver's line is read in all its forms: %s", (line, number, pid) => {
  expect(xidIn(line)).toMatchObject({ xid: number, pid, device: "0000:41:00", fault: "hardware" });
});

test.each([13, 31, 43, 45])(
  "Xid %i is a fault of a program, and in a log it is no word about hardware",
  (number) => {
    expect(xidIn(xid(number, "x"))?.fault).toBe("application");
    expect(of(`${STARTED}${xid(number, "x")}\nZeroDivisionError: x\n`, []).cause).toBe("UNKNOWN");
  },
);

test("a log with the driver's lines among its own is told by them", () => {
  expect(of(`${STARTED}${FALLEN}\n`, [])).toMatchObject({
    cause: "GPU_HARDWARE_ERROR",
    values: { xid: 79, device: "0000:41:00" },
    logLine: 2,
  });
});
