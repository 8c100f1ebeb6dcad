"""Servers that are being forgotten right now: their records stand until the end, but count as nobody's use any more. Else two
that share something and are destroyed at the same time would each leave it to the other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from agent import paths, processes, records, registry


def begin(server_id: str) -> None:
    """From now on, for as long as this process lives: one that is cut off leaves the server with what it uses."""
    me = processes.read_process(os.getpid())
    mark = {"pid": os.getpid(), "startTicks": me.start_ticks if me else 0, "bootId": processes.boot_id()}
    # Without it more is kept than has to be.
    with records.best_effort():
        records.write_json(_file(server_id), mark)


def users(but: Optional[str] = None) -> list[str]:
    """Ids of the servers whose records tell what is in use, but one."""
    return [
        server_id for server_id in registry.server_ids() if server_id != but and not _is_under_way(server_id)
    ]


def _is_under_way(server_id: str) -> bool:
    mark = records.read_json(_file(server_id))
    if not isinstance(mark, dict) or mark.get("bootId") != processes.boot_id():
        return False
    pid, ticks = mark.get("pid"), mark.get("startTicks")
    return isinstance(pid, int) and isinstance(ticks, int) and processes.is_same(pid, ticks)


def _file(server_id: str) -> Path:
    return paths.server_folder(server_id) / "forgetting.json"
