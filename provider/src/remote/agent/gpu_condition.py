"""How a GPU is: modes it was put into, faults it has counted. Of core/observed.ts, `condition` of a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from agent import gpu_bus

# Of nvidia-smi --help-query-gpu; a driver that does not know one is asked without it.
FIELDS = (
    "pci.bus_id",
    "persistence_mode",
    "compute_mode",
    "mig.mode.current",
    "ecc.errors.uncorrected.volatile.total",
    "retired_pages.pending",
)
# Of --help-query-remapped-rows, Ampere and newer.
ROW_FIELDS = ("gpu_uuid", "remapped_rows.pending", "remapped_rows.failure")


def read(row: Mapping[str, str], remapped: Optional[Mapping[str, str]]) -> dict[str, Any]:
    """None for what the driver does not tell."""
    rows = remapped or {}
    bus = _told(row.get("pci.bus_id"))
    count = _told(row.get("ecc.errors.uncorrected.volatile.total"))
    # Volta and older retire pages, later ones remap rows: both wait for a reset.
    answers = (_yes(row.get("retired_pages.pending")), _yes(rows.get("remapped_rows.pending")))
    pending = [answer for answer in answers if answer is not None]
    return {
        "pciBusId": None if bus is None else gpu_bus.normal(bus),
        "isPersistent": _yes(row.get("persistence_mode")),
        "computeMode": _told(row.get("compute_mode")),
        "isMig": _yes(row.get("mig.mode.current")),
        "uncorrectedErrors": int(count) if count is not None and count.isdigit() else None,
        "isRepairPending": any(pending) if pending else None,
        "hasRepairFailed": _yes(rows.get("remapped_rows.failure")),
    }


def _yes(text: Optional[str]) -> Optional[bool]:
    """Yes and No, Enabled and Disabled, a number that is 0 where there is none."""
    told = _told(text)
    if told in ("Yes", "Enabled"):
        return True
    if told in ("No", "Disabled"):
        return False
    return int(told) > 0 if told is not None and told.isdigit() else None


def _told(text: Optional[str]) -> Optional[str]:
    """None for [N/A], [Not Supported], [Unknown Error] and the like."""
    return None if text is None or text in ("", "N/A") or text.startswith("[") else text
