import type { Finding } from "../finding";
import type { GpuSeen, Machine } from "../observed";
import { xidRow } from "../xids";

/** What the kernel's log tells of these GPUs, and of any that nvidia-smi does not list any more. */
export function xidFindings(gpus: readonly GpuSeen[], { host, gpus: all }: Machine): readonly Finding[] {
  const places = new Set((all ?? []).map(({ condition }) => condition?.pciBusId ?? null));
  // Of one whose place is not told it is not known whether it is the one.
  const isListed = (place: string): boolean => places.has(place) || places.has(null);
  return (host.xids ?? []).flatMap(({ pciBusId, xid, line }): readonly Finding[] => {
    const row = xidRow(xid);
    const gpu = gpus.find(({ condition }) => condition?.pciBusId === pciBusId);
    if (row === null || row.change === null || (gpu === undefined && isListed(pciBusId))) return [];
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
