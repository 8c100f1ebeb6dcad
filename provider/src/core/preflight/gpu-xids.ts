import type { Finding } from "../finding";
import type { GpuSeen, Machine } from "../observed";

interface XidRow {
  readonly xid: number;
  readonly means: string;
  readonly change: string;
}

const RESET = "reset the GPU   (sudo nvidia-smi --gpu-reset), and take other gpus if it comes again";

/**
 * Faults of the hardware; what applications cause (13, 31, 43, 45) is none.
 * Source: NVIDIA, XID Errors (r580), and GPU Memory Error Management for 63, 64, 94 and 95.
 */
const XIDS: readonly XidRow[] = [
  { xid: 48, means: "memory error of two bits, which ECC cannot correct", change: RESET },
  {
    xid: 63,
    means: "memory that fails was marked to be replaced at the next reset",
    change: "reset the GPU when nobody computes there   (sudo nvidia-smi --gpu-reset)",
  },
  {
    xid: 64,
    means: "memory that fails could not be marked to be replaced",
    change: "reset the GPU   (sudo nvidia-smi --gpu-reset); other gpus until then",
  },
  {
    xid: 74,
    means: "error of an NVLink",
    change: "reset the GPU or reboot; NVLinks and bridges if it comes again   (nvidia-smi nvlink -e)",
  },
  {
    xid: 79,
    means: "the GPU has fallen off the bus",
    change: "reboot the host; power, cooling and slot of the GPU if it comes again",
  },
  { xid: 94, means: "memory error that ECC could not correct, contained to one application", change: RESET },
  {
    xid: 95,
    means: "memory error that ECC could not correct, not contained: whatever ran there is suspect",
    change: RESET,
  },
];

/** What the kernel's log tells of these GPUs, and of any that nvidia-smi does not list any more. */
export function xidFindings(gpus: readonly GpuSeen[], { host, gpus: all }: Machine): readonly Finding[] {
  const places = new Set((all ?? []).map(({ condition }) => condition?.pciBusId ?? null));
  // Of one whose place is not told it is not known whether it is the one.
  const isListed = (place: string): boolean => places.has(place) || places.has(null);
  return (host.xids ?? []).flatMap(({ pciBusId, xid, line }): readonly Finding[] => {
    const row = XIDS.find((each) => each.xid === xid);
    const gpu = gpus.find(({ condition }) => condition?.pciBusId === pciBusId);
    if (row === undefined || (gpu === undefined && isListed(pciBusId))) return [];
    const which =
      gpu === undefined ? `a GPU that is not listed any more (${pciBusId})` : `GPU ${String(gpu.index)}`;
    return [
      {
        severity: "warning",
        code: "GPU_XID",
        summary: `${which}: ${row.means} (Xid ${String(xid)}) since the boot of the host`,
        evidence: line,
        path: "gpus",
        change: `on the host: ${row.change}`,
      },
    ];
  });
}
