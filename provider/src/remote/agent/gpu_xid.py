"""Faults of GPUs that the driver has told the kernel's log since the boot, where this account may read it."""

from __future__ import annotations

from typing import Any, Optional

from agent import gpu_bus, kernel_log

# The newest of each GPU and number; a GPU that dies can tell the same thousands of times.
_MOST = 40


def look() -> Optional[list[dict[str, Any]]]:
    """[{pciBusId, xid, line}], each GPU and number once, its newest line. None: the log cannot be read."""
    text = kernel_log.read_all()
    if text is None:
        return None
    newest: dict[tuple[str, int], str] = {}
    for found in kernel_log.XID.finditer(text):
        key = (gpu_bus.normal(found["device"]), int(found["xid"]))
        newest.pop(key, None)
        newest[key] = found[0].strip()[: kernel_log.LONGEST_LINE]
    rows = list(newest.items())[-_MOST:]
    return [{"pciBusId": bus, "xid": number, "line": line} for (bus, number), line in rows]
