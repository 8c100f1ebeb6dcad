import { gpus, two, vllm, type Situation } from "./examples";
import { describeExamples, type TitledExample } from "./telling";

const FALLEN = "NVRM: Xid (PCI:0000:41:00): 79, pid=4711, name=python3, GPU has fallen off the bus.";
const xid = (number: number, pciBusId = "0000:41:00"): NonNullable<Situation["host"]> => ({
  xids: [{ pciBusId, xid: number, line: FALLEN }],
});

const EXAMPLES: readonly TitledExample[] = [
  [
    "a GPU on which nobody may compute",
    {
      fires: { seen: { gpus: gpus({ computeMode: "Prohibited" }) } },
      finding: {
        severity: "error",
        code: "GPU_PROHIBITED",
        summary: "GPU 0 is in the compute mode Prohibited, in which nobody may compute there",
        path: "gpus",
        change: "on the host: sudo nvidia-smi -i 0 -c DEFAULT   (or other gpus)",
      },
      misses: {
        "one that is not to be used": { seen: { gpus: gpus({}, { computeMode: "Prohibited" }) } },
        "a mode that is not told": { seen: { gpus: gpus({ computeMode: null }) } },
        "a condition that is not known": { seen: { gpus: gpus(null) } },
        "a build for the CPU": {
          seen: { gpus: gpus({ computeMode: "Prohibited" }), ...vllm("0.32.0+cpu") },
        },
      },
    },
  ],
  [
    "GPUs that one process alone may use, of several",
    {
      fires: { wish: two, seen: { gpus: gpus({ computeMode: "Exclusive_Process" }, {}) } },
      finding: {
        severity: "warning",
        code: "GPU_EXCLUSIVE",
        summary:
          'GPU 0 is in the compute mode Exclusive_Process: a worker that also opens another\'s GPU, as some ways between GPUs do, fails with "all CUDA-capable devices are busy or unavailable"',
        path: "gpus",
        change: "on the host: sudo nvidia-smi -i 0 -c DEFAULT",
      },
      misses: {
        "a single one": { seen: { gpus: gpus({ computeMode: "Exclusive_Process" }) } },
        "a condition that is not known": { wish: two, seen: { gpus: gpus(null, null) } },
      },
    },
  ],
  [
    "whole GPUs that are divided",
    {
      fires: { wish: two, seen: { gpus: gpus({ isMig: true }, { isMig: true }) } },
      finding: {
        severity: "warning",
        code: "GPU_MIG",
        summary:
          "GPUs 0 and 1 are divided into MIG instances: a process that is given the whole GPU sees its first instance alone, or none, and one GPU where there are several",
        path: "gpus",
        change: "on the host: sudo nvidia-smi -i 0,1 -mig 0   (or other gpus)",
      },
      misses: {
        "one that is not to be used": { seen: { gpus: gpus({}, { isMig: true }) } },
        "a GPU that knows no such mode": { seen: { gpus: gpus({ isMig: null }) } },
      },
    },
  ],
  [
    "persistence mode that is off",
    {
      fires: { seen: { gpus: gpus({ isPersistent: false }) } },
      finding: {
        severity: "note",
        code: "GPU_NOT_PERSISTENT",
        summary:
          "persistence mode of GPU 0 is off: the driver loads anew whenever nobody uses the GPU, which takes seconds and forgets what it counted",
        path: "gpus",
        change: "on the host: sudo systemctl enable --now nvidia-persistenced   (or sudo nvidia-smi -pm 1)",
      },
      misses: { "not told": { seen: { gpus: gpus({ isPersistent: null }) } } },
    },
  ],
  [
    "memory errors",
    {
      fires: { seen: { gpus: gpus({ uncorrectedErrors: 2 }) } },
      finding: {
        severity: "warning",
        code: "GPU_MEMORY_FAULT",
        summary: "GPU 0 counted memory errors that ECC could not correct since the driver was loaded",
        evidence: "uncorrected errors: 2",
        path: "gpus",
        change: "on the host, when nobody computes there: sudo nvidia-smi -i 0 --gpu-reset   (or other gpus)",
      },
      misses: {
        "those of a GPU that is not to be used": { seen: { gpus: gpus({}, { uncorrectedErrors: 2 }) } },
        "a GPU without ECC": { seen: { gpus: gpus({ uncorrectedErrors: null }) } },
      },
    },
  ],
  [
    "memory that waits for a reset, which says more than the errors that led to it",
    {
      fires: { seen: { gpus: gpus({ uncorrectedErrors: 2, isRepairPending: true }) } },
      finding: {
        severity: "warning",
        code: "GPU_REPAIR_PENDING",
        summary: "GPU 0 replaces memory that fails at the next reset, and fails with it until then",
        evidence: "uncorrected errors: 2",
        path: "gpus",
        change: "on the host, when nobody computes there: sudo nvidia-smi -i 0 --gpu-reset   (or other gpus)",
      },
      misses: { "not told": { seen: { gpus: gpus({ isRepairPending: null }) } } },
    },
  ],
  [
    "memory that cannot be replaced",
    {
      fires: { seen: { gpus: gpus({ uncorrectedErrors: null, hasRepairFailed: true }) } },
      finding: {
        severity: "warning",
        code: "GPU_REPAIR_FAILED",
        summary: "GPU 0 could not replace memory that fails: the GPU itself has to be replaced",
        evidence: "uncorrected errors: ?",
        path: "gpus",
        change: "other gpus   (and a replacement from the vendor)",
      },
      misses: { "not told": { seen: { gpus: gpus({ hasRepairFailed: null }) } } },
    },
  ],
  [
    "a fault in the kernel's log",
    {
      fires: { seen: { gpus: gpus({}, {}) }, host: xid(79) },
      finding: {
        severity: "warning",
        code: "GPU_XID",
        summary: "GPU 0: the GPU has fallen off the bus (Xid 79) since the boot of the host",
        evidence: FALLEN,
        path: "gpus",
        change: "on the host: reboot; power, cooling and slot of the GPU if it comes again",
      },
      misses: {
        "a fault of an application": { seen: { gpus: gpus({}) }, host: xid(31) },
        "one of a GPU that is not to be used": { seen: { gpus: gpus({}, {}) }, host: xid(79, "0000:42:00") },
        "GPUs whose places are not known": { seen: { gpus: gpus(null) }, host: xid(79) },
        "a log that may not be read": { seen: { gpus: gpus({}) }, host: { xids: null } },
      },
    },
  ],
  [
    "a fault of a GPU that is gone since",
    {
      fires: { seen: { gpus: gpus({}) }, host: xid(79, "0000:c1:00") },
      finding: {
        severity: "warning",
        code: "GPU_XID",
        summary:
          "a GPU that is not listed any more (0000:c1:00): the GPU has fallen off the bus (Xid 79) since the boot of the host",
        evidence: FALLEN,
        path: "gpus",
        change: "on the host: reboot; power, cooling and slot of the GPU if it comes again",
      },
      misses: {},
    },
  ],
  [
    "a complaint of nvidia-smi beside good GPUs",
    {
      fires: { seen: { gpus: gpus({}), gpuError: "GPU 00000000:41:00.0 is lost" } },
      finding: {
        severity: "warning",
        code: "GPU_TROUBLE",
        summary: "nvidia-smi complains beside the GPUs that it lists: GPU 00000000:41:00.0 is lost",
        path: "gpus",
      },
      misses: { "no GPUs, and none wanted": { seen: { gpus: null, gpuError: "no driver" } } },
    },
  ],
  [
    "GPUs of two kinds",
    {
      fires: {
        wish: two,
        seen: {
          gpus: [
            ...gpus({}),
            ...gpus({}, {})
              .slice(1)
              .map((one) => ({ ...one, name: "NVIDIA L4" })),
          ],
        },
      },
      finding: {
        severity: "warning",
        code: "GPUS_DIFFER",
        summary:
          "the GPUs that work together are of different kinds: 1 x NVIDIA RTX PRO 6000 Blackwell Server Edition (97887 MiB), 1 x NVIDIA L4 (97887 MiB); the smallest and the slowest decide for all, and a kernel that one lacks fails the start",
        path: "gpus",
        change: "gpus: [...]   (of one kind)",
      },
      misses: {
        "one of them alone": {
          seen: {
            gpus: [
              ...gpus({}),
              ...gpus({}, {})
                .slice(1)
                .map((one) => ({ ...one, name: "NVIDIA L4" })),
            ],
          },
        },
      },
    },
  ],
];

describeExamples(EXAMPLES);
