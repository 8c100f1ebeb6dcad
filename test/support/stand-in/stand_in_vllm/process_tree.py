"""SIGKILL to a process and all below it. Source: kill_process_tree, vllm/utils/system_utils.py."""

from __future__ import annotations

import contextlib
import os
import signal

from .log import Log


def _table() -> dict[int, tuple[int, str]]:
    """pid -> (parent, comm)."""
    found: dict[int, tuple[int, str]] = {}
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
    below: list[int] = []
    parents = {pid}
    while parents:
        parents = {child for child, (parent, _) in table.items() if parent in parents}
        below += sorted(parents)
    for child in below:
        log.warning(
            "system_utils.py:226", f"[shutdown] force killing sub process {table[child][1]} pid {child}"
        )
        _kill(child)
    _kill(pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
