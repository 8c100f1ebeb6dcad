interface XidRow {
  readonly xid: number;
  /** Of whom it tells: the machine, a machine that goes on until its next reset, or the program that computed there. */
  readonly fault: "hardware" | "pending" | "application";
  /** Follows "GPU 0000:41:00: ". */
  readonly means: string;
  /** What the host needs; null: nothing, it is not at fault. */
  readonly change: string | null;
}

const RESET = "reset the GPU (sudo nvidia-smi --gpu-reset), or reboot; other gpus if it comes again";
const REBOOT = "reboot; power, cooling and slot of the GPU if it comes again";

/**
 * What NVIDIA's driver reports of a GPU. Numbers that are not here prove nothing by themselves: 92 counts corrected errors.
 * Source: NVIDIA, Xid Errors (r580), "Xid Catalog": immediate action; GPU Memory Error Management for 48, 63, 64, 94, 95;
 * NVIDIA/open-gpu-kernel-modules nverror.h for the numbers.
 */
const XIDS: readonly XidRow[] = [
  { xid: 46, fault: "hardware", means: "the GPU stopped computing", change: RESET },
  { xid: 48, fault: "hardware", means: "memory error of two bits, which ECC cannot correct", change: RESET },
  { xid: 62, fault: "hardware", means: "its internal controller halted", change: RESET },
  {
    xid: 63,
    fault: "pending",
    means: "memory that fails is replaced at the next reset",
    change: "reset the GPU when nobody computes there (sudo nvidia-smi --gpu-reset)",
  },
  { xid: 64, fault: "hardware", means: "memory that fails could not be replaced", change: RESET },
  { xid: 74, fault: "hardware", means: "error of an NVLink", change: RESET },
  { xid: 79, fault: "hardware", means: "the GPU has fallen off the bus", change: REBOOT },
  { xid: 94, fault: "hardware", means: "memory error that ECC could not correct", change: RESET },
  { xid: 95, fault: "hardware", means: "memory error that was not contained", change: RESET },
  { xid: 109, fault: "hardware", means: "a context switch timed out", change: RESET },
  { xid: 110, fault: "hardware", means: "security fault", change: RESET },
  { xid: 119, fault: "hardware", means: "the GPU's system processor (GSP) did not answer", change: RESET },
  { xid: 120, fault: "hardware", means: "error of the GPU's system processor (GSP)", change: RESET },
  { xid: 136, fault: "hardware", means: "an NVLink could not be trained", change: RESET },
  { xid: 140, fault: "hardware", means: "memory error that was not recovered", change: RESET },
  { xid: 143, fault: "hardware", means: "the GPU could not be initialised", change: REBOOT },
  { xid: 13, fault: "application", means: "exception in a kernel", change: null },
  { xid: 31, fault: "application", means: "memory access that faulted", change: null },
  { xid: 43, fault: "application", means: "a program was stopped after a fault of its own", change: null },
  {
    xid: 45,
    fault: "application",
    means: "a program that had ended or failed was cleared away",
    change: null,
  },
  { xid: 69, fault: "application", means: "exception in a kernel (class error)", change: null },
  { xid: 137, fault: "application", means: "access over NVLink without the right", change: null },
];

/** null: one that proves nothing. */
export function xidRow(xid: number): XidRow | null {
  return XIDS.find((row) => row.xid === xid) ?? null;
}

export interface Xid extends XidRow {
  /** "0000:41:00": domain, bus and device. */
  readonly device: string;
  /** null: the driver did not know whose work it was. */
  readonly pid: number | null;
}

/** NVRM: Xid (PCI:0000:41:00): 79, pid=4711, name=python3, GPU has fallen off the bus. */
const LINE = /NVRM: Xid \((?:PCI:)?(?<device>[\da-fA-F:.]+)\): (?<xid>\d+)(?:, pid='?(?<pid>\d+))?/;

/** The fault that a line of the kernel's log reports; null: none, or one that proves nothing. */
export function xidIn(line: string): Xid | null {
  const groups = LINE.exec(line)?.groups;
  const row = xidRow(Number(groups?.["xid"]));
  if (row === null) return null;
  const { device = "", pid } = groups ?? {};
  return { ...row, device, pid: pid === undefined ? null : Number(pid) };
}
