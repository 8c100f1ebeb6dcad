"""Whether the running server ever came as far as serving: then it can drain, and answers a SIGTERM."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from agent import paths, processes, records, run_record, sockets


def has_served(server_id: str, run: dict[str, Any], members: Iterable[processes.Process], port: int) -> bool:
    """Proven ready by the wait step, or, after an automatic restart that nobody watched, listening on its port."""
    ready = records.read_json(paths.server_folder(server_id) / "ready.json")
    if isinstance(ready, dict) and ready.get("generation") == run_record.generation_of(run):
        return True
    return bool(own_listeners(port, members))


def own_listeners(port: int, members: Iterable[processes.Process]) -> set[int]:
    """Inodes of the sockets that listen on the port and are held by one of these processes."""
    inodes = {inode for inode, _uid, _address in sockets.listeners(port)}
    if not inodes:
        return set()
    held: set[int] = set()
    for member in members:
        held |= inodes & _socket_inodes(member.pid)
    return held


def _socket_inodes(pid: int) -> set[int]:
    found = set()
    try:
        for descriptor in os.scandir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(descriptor.path)
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(int(target[len("socket:[") : -1]))
    except OSError:
        pass
    return found
