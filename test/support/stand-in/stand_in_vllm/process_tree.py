"""SIGKILL to a process and all below it. Source: kill_process_tree, vllm/utils/system_utils.py."""

from __future__ import annotations

import os
import signal
from typing import Dict, List, Tuple

from .log import Log


def _table() -> Dict[int, Tuple[int, str]]:
    """pid -> (parent, comm)."""
    found: Dict[int, Tuple[int, str]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    head, _, rest = file.read().rpartition(")")
            except OSError:
                continue
            found[int(name)] = (int(rest.split()[1]), head.partition("(")[2])
    return found


def kill_tree(pid: int, log: Log) -> None:
    table = _table()
    below: List[int] = []
    parents = {pid}
    while parents:
        parents = {child for child, (parent, _) in table.items() if parent in parents}
        below += sorted(parents)
    for child in below:
        log.warning("system_utils.py:226", f"[shutdown] force killing sub process {table[child][1]} pid {child}")
        _kill(child)
    _kill(pid)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
