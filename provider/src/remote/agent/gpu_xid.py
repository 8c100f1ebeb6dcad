"""Faults of GPUs that the driver has told the kernel's log since the boot, where this account may read it."""

from __future__ import annotations

import os
import re
from typing import Any, Optional

from agent import command, gpu_bus

_SECONDS = 5.0
# The newest of each GPU and number; a GPU that dies can tell the same thousands of times.
_MOST = 40
_LINE_CHARACTERS = 300
# The ring of the kernel first: it is quick, and of this boot alone. Where it is root's alone, members of adm or systemd-journal can
# read what the journal has kept of it.
_READERS = (
    ("dmesg",),
    ("journalctl", "--dmesg", "--boot", "--quiet", "--no-pager", "--output=cat"),
)
# Source: NVIDIA, "XID Errors", r580: NVRM: Xid (PCI:0000:41:00): 79, pid=4711, name=python3, GPU has fallen off the bus.
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<bus>[0-9a-fA-F:.]+)\): (?P<number>\d+)(?P<rest>.*)")


def look() -> Optional[list[dict[str, Any]]]:
    """[{pciBusId, xid, line}], each GPU and number once, its newest line. None: the log cannot be read."""
    text = _kernel_log()
    if text is None:
        return None
    newest: dict[tuple[str, int], str] = {}
    for found in _XID.finditer(text):
        key = (gpu_bus.normal(found["bus"]), int(found["number"]))
        newest.pop(key, None)
        newest[key] = found[0].strip()[:_LINE_CHARACTERS]
    rows = list(newest.items())[-_MOST:]
    return [{"pciBusId": bus, "xid": number, "line": line} for (bus, number), line in rows]


def _kernel_log() -> Optional[str]:
    for words in _READERS:
        try:
            told = command.run(["/usr/bin/env", *words], {**os.environ, "LC_ALL": "C"}, _SECONDS)
        except OSError:
            continue
        # A reader without the right to read says nothing, and not always that it failed.
        if told.code == 0 and told.stdout.strip():
            return told.stdout
    return None
