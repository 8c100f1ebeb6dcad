import type { FailureCause } from "./causes";
import type { Choice } from "./choose";
import type { Scan } from "./pass";
import { WEIGHTS } from "./rule";
import { xidIn } from "../xids";

/** What a line of the kernel's log proves. */
export interface KernelProof {
  readonly cause: FailureCause;
  readonly summary: string;
  readonly line: string;
  readonly change: string;
  readonly values: Readonly<Record<string, number | string>>;
  readonly retryable: boolean;
}

type Kind = "killed" | "broken" | "faulted";

/** What a process that was killed, or a GPU that failed, leaves in the log of the others, beside the cause itself. */
const AFTERMATH: Readonly<Record<Kind, readonly FailureCause[]>> = {
  killed: ["HOST_OOM_KILLED", "TERMINATED_BY_SIGNAL", "GLOO_INTERFACE"],
  broken: [
    "GPU_HARDWARE_ERROR",
    "CUDA_ILLEGAL_ACCESS",
    "CUSTOM_ALLREDUCE_FAILED",
    "GPU_BUSY",
    "NO_GPU_VISIBLE",
    "HOST_OOM_KILLED",
    "TERMINATED_BY_SIGNAL",
  ],
  faulted: [],
};
const AFTERMATH_OF_ALL: readonly FailureCause[] = [
  "ENGINE_READY_TIMEOUT",
  "ENGINE_STEP_TIMEOUT",
  "NCCL_FAILED",
];

/** Exceptions that no rule knows and that come of it. */
const AFTERMATH_EXCEPTIONS: Readonly<Record<Kind, RegExp>> = {
  // A compiler of a JIT build that was killed, a pool that lost a process, a peer that is gone.
  killed:
    /CalledProcessError|returned non-zero exit status|SIGKILL|Error building extension|[Nn]inja|BrokenProcessPool|BackendCompilerFailed|SubprocException|Connection closed by peer|Connection reset|Broken pipe/,
  broken: /CUDA|cuda|NCCL|NVML|nvml|GPU|CUBLAS|cuBLAS|cuDNN|Connection closed by peer|Connection reset/,
  faulted: /CUDA|cuda/,
};

/**
 * What the kernel says of this start, where the log says nothing, or only what follows from that.
 * @param lines of this start's time, about its own processes and GPUs, in the order they came.
 */
export function kernelProof(lines: readonly string[], scan: Scan, choice: Choice | null): KernelProof | null {
  return (
    killing(lines, scan, choice) ??
    gpuFault(lines, "hardware", scan, choice) ??
    gpuFault(lines, "application", scan, choice)
  );
}

/**
 * Source: Linux mm/oom_kill.c: "Out of memory: Killed process 7 (x) total-vm:..", with "Memory cgroup " in front for a limit of a group;
 * before 5.2 "Killed process 7 (x) .."; one line before it "oom-kill:constraint=CONSTRAINT_MEMCG,..,task=x,pid=7,uid=0".
 */
const KILLED = /[Kk]illed process (?<pid>\d+),? \((?<name>[^)]*)\)/;
const CONSTRAINT = /oom-kill:constraint=\w+.*,task=(?<name>.*),pid=(?<pid>\d+),uid=/;
const OF_A_GROUP = /[Mm]emory cgroup|CONSTRAINT_MEMCG/;

function killing(lines: readonly string[], scan: Scan, choice: Choice | null): KernelProof | null {
  const line = lines.find((one) => KILLED.test(one)) ?? lines.find((one) => CONSTRAINT.test(one));
  if (line === undefined || !isOpen("killed", scan, choice)) return null;
  const { pid = "", name = "" } = (KILLED.exec(line) ?? CONSTRAINT.exec(line))?.groups ?? {};
  const isOfGroup = lines.some((one) => one.includes(pid) && OF_A_GROUP.test(one));
  const want = isOfGroup
    ? "because its control group came to its memory limit"
    : "because the host had no memory left";
  return {
    cause: "HOST_OOM_KILLED",
    summary: `the kernel killed ${name} (process ${pid}) ${want}`,
    line,
    change: isOfGroup
      ? "host: a higher memory limit of the container or unit; environment.MAX_JOBS lower; engine.cpuOffloadGb (--cpu-offload-gb) lower"
      : "host: more memory, or fewer other programs; environment.MAX_JOBS lower; engine.cpuOffloadGb (--cpu-offload-gb) lower",
    values: { pid: Number(pid) },
    retryable: false,
  };
}

function gpuFault(
  lines: readonly string[],
  fault: "hardware" | "application",
  scan: Scan,
  choice: Choice | null,
): KernelProof | null {
  const isHardware = fault === "hardware";
  // What the log itself says of a kernel that crashed tells more than that the driver saw it.
  if (!isHardware && choice?.rule.cause === "CUDA_ILLEGAL_ACCESS") return null;
  if (!isOpen(isHardware ? "broken" : "faulted", scan, choice)) return null;
  const found = lines
    .map((line) => ({ line, told: xidIn(line) }))
    // 43 and 45 come after something else, and are proof of nothing.
    .find(({ told }) => told?.fault === fault && ![43, 45].includes(told.xid));
  if (found?.told === null || found === undefined) return null;
  const { line, told } = found;
  const { device, xid, pid, means } = told;
  return {
    cause: isHardware ? "GPU_HARDWARE_ERROR" : "CUDA_ILLEGAL_ACCESS",
    summary: `GPU ${device}: ${means} (Xid ${String(xid)})`,
    line,
    change: isHardware
      ? `host: ${told.change ?? ""}; dmesg and nvidia-smi tell more`
      : "vllm.version: another (newer) one, engine.attentionBackend (--attention-backend), or engine.enforceEager: true (--enforce-eager)",
    values: { xid, device, ...(pid === null ? {} : { pid }) },
    retryable: !isHardware,
  };
}

/** Whether the log leaves room for it: it names no cause of its own. */
function isOpen(kind: Kind, scan: Scan, choice: Choice | null): boolean {
  if (choice === null) return scan.exceptions.every(({ line }) => AFTERMATH_EXCEPTIONS[kind].test(line.text));
  const { cause } = choice.rule;
  if (AFTERMATH_OF_ALL.includes(cause) || AFTERMATH[kind].includes(cause)) return true;
  // What comes with several causes comes with this one, too.
  return kind === "killed" && WEIGHTS[choice.evidence.sign.weight] <= WEIGHTS.symptom;
}
