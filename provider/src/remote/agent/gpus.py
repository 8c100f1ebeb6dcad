"""NVIDIA GPUs as nvidia-smi tells them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from agent import command, executable, gpu_condition
from agent.gpu_choice import choose

__all__ = ["choose", "memory_used", "places", "query"]

DEADLINE_SECONDS = 30.0

# Source: nvidia-smi 580; memory that is the machine's own (GB10), MIG slices without rights.
_NOTHING_TO_TELL = ("N/A", "Not Supported", "Insufficient Permissions")
_DRIVER = Path("/dev/nvidiactl")

_FIELDS = ("index", "uuid", "name", "memory.total", "memory.used", "driver_version", "compute_cap")
# Drivers before 510 do not know compute_cap, and others not what makes up a condition.
_OPTIONAL = ("compute_cap", *gpu_condition.FIELDS)
_UNKNOWN_FIELD = re.compile(r'Field "([^"]+)" is not a valid field')


def query(with_condition: bool = False) -> tuple[Optional[list[dict[str, Any]]], Optional[str]]:
    """(GPUs by index, what went wrong). No nvidia-smi: (None, None). A dead driver: (None, what it says).

    A GPU: index, uuid, name, memoryTotalMib, memoryUsedMib, computeCapability, driverVersion,
    processes [{pid, usedMib}]; with_condition, which takes one call more: condition.
    """
    program = _program()
    if program is None:
        return None, None
    rows, error = _gpu_table(program, (*_FIELDS, *(gpu_condition.FIELDS if with_condition else ())))
    if rows is None:
        return None, error
    sound = [row for row in rows if _trouble(row) is None]
    gpus = [_gpu(row) for row in sound]
    if with_condition:
        remapped = {
            row["gpu_uuid"]: row
            for row in _table(program, "remapped-rows", gpu_condition.ROW_FIELDS)[0] or []
        }
        for gpu, row in zip(gpus, sound):
            gpu["condition"] = gpu_condition.read(row, remapped.get(gpu["uuid"]))
    broken = [told for told in map(_trouble, rows) if told is not None]
    by_uuid = {gpu["uuid"]: gpu for gpu in gpus}
    apps, apps_error = _table(program, "compute-apps", ("pid", "gpu_uuid", "used_memory"))
    for row in apps or []:
        if row["pid"].isdigit() and row["gpu_uuid"] in by_uuid:
            seen = {"pid": int(row["pid"]), "usedMib": _mib(row["used_memory"])}
            by_uuid[row["gpu_uuid"]]["processes"].append(seen)
    return sorted(gpus, key=lambda gpu: gpu["index"]), "; ".join(broken) or error or apps_error


def memory_used() -> tuple[dict[str, int], Optional[str]]:
    """(MiB in use per GPU UUID, why some or all could not be asked). A host whose GPUs were taken away has none
    and no trouble: a container that was made anew without them, say."""
    program = _program()
    if program is None:
        return {}, "its driver is there, nvidia-smi is not" if _DRIVER.exists() else None
    rows, error = _table(program, "gpu", ("uuid", "memory.used"))
    if rows is None:
        return {}, error
    told = [_trouble(row) for row in rows]
    used = {row["uuid"]: _mib(row["memory.used"]) or 0 for row, trouble in zip(rows, told) if trouble is None}
    return used, "; ".join(trouble for trouble in told if trouble is not None) or error


def places() -> dict[str, str]:
    """Where on the PCI bus each GPU sits, by UUID: "00000000:41:00.0". {}: it cannot be asked."""
    program = _program()
    rows = None if program is None else _table(program, "gpu", ("uuid", "pci.bus_id"))[0]
    return {row["uuid"]: row["pci.bus_id"] for row in rows or []}


def _program() -> Optional[str]:
    here = shutil.which("nvidia-smi", path=os.environ.get("PATH", executable.POOR_PATH))
    return here or shutil.which("nvidia-smi", path=executable.login_environment()["PATH"])


def _gpu_table(program: str, fields: Sequence[str]) -> tuple[Optional[list[dict[str, str]]], Optional[str]]:
    """Without the fields that this driver does not know; it names one at a time."""
    rows, error = _table(program, "gpu", fields)
    unknown = _UNKNOWN_FIELD.search(error or "")
    if rows is None and unknown is not None and unknown[1] in fields and unknown[1] in _OPTIONAL:
        return _gpu_table(program, [field for field in fields if field != unknown[1]])
    return rows, error


def _table(
    program: str, what: str, fields: Sequence[str]
) -> tuple[Optional[list[dict[str, str]]], Optional[str]]:
    argv = [program, f"--query-{what}={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        told = command.run(argv, dict(os.environ), DEADLINE_SECONDS)
    except OSError as error:
        return None, f"{program} cannot be run: {error.strerror}"
    if told.code is None:
        return None, f"{program} did not answer within {DEADLINE_SECONDS:.0f} s"
    rows, rest = [], []
    for line in told.stdout.splitlines():
        values = [value.strip() for value in line.split(",")]
        if len(values) == len(fields):
            rows.append(dict(zip(fields, values)))
        elif line.strip():
            # "No devices were found", or the complaint about one lost GPU among good ones.
            rest.append(line.strip())
    said = " ".join(rest + told.stderr.split("\n")).strip() or None
    if told.code != 0 and not rows and "No devices were found" not in (said or ""):
        return None, said or "%s ended with code %d" % (program, told.code)
    return rows, said


def _trouble(row: dict[str, str]) -> Optional[str]:
    """What is wrong with a GPU that cannot say how much memory is in use: it is no free one. Words that only mean
    that there is nothing to tell are none."""
    text = row["memory.used"]
    if text.isdigit() or any(word in text for word in _NOTHING_TO_TELL):
        return None
    return f"GPU {row.get('index', '')} ({row['uuid']}) says {text}".replace("  ", " ")


def _gpu(row: dict[str, str]) -> dict[str, Any]:
    return {
        "index": int(row["index"]) if row["index"].isdigit() else -1,
        "uuid": row["uuid"],
        "name": row["name"],
        # "[N/A]" where the memory is the machine's own (GB10): nothing to reserve there.
        "memoryTotalMib": _mib(row["memory.total"]) or 0,
        "memoryUsedMib": _mib(row["memory.used"]) or 0,
        "computeCapability": _known(row.get("compute_cap")),
        "driverVersion": _known(row["driver_version"]),
        "processes": [],
    }


def _mib(text: str) -> Optional[int]:
    return int(text) if text.isdigit() else None


def _known(text: Optional[str]) -> Optional[str]:
    return None if text is None or text == "" or text.startswith("[") or text == "N/A" else text
