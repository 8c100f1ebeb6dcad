"""PortSeen of core/observed.ts: who has a listen address, or will have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from agent import accounts, processes, sockets
from agent.registry import Server


def look(address: str, port: int, servers: Sequence[Server]) -> dict[str, Any]:
    """Taken: somebody listens there, a living registered server has it reserved, or a plain bind says so.

    A server that is starting holds its port without listening; a second one could bind it too and would then
    stay up without ever serving. Source: vLLM 0.32.0, entrypoints/launcher.py.
    """
    for inode, uid, seen_address in sockets.listeners(port):
        if sockets.overlaps(address, seen_address):
            return _listener(inode, uid, servers)
    for server in servers:
        if server.occupies() and _meets(server.listen(), address, port):
            leader = server.members[0] if server.members else None
            return _taken(leader, None if leader is None else leader.uid, server.server_id)
    if not sockets.is_bindable(address, port):
        return _taken(None, None, None)
    return {"free": True}


def _meets(listen: Optional[dict[str, Any]], address: str, port: int) -> bool:
    return listen is not None and listen["port"] == port and sockets.overlaps(address, listen["address"])


def _listener(inode: int, uid: int, servers: Sequence[Server]) -> dict[str, Any]:
    pids = sockets.owners_of_inode(inode)
    holder = processes.read_process(pids[0]) if pids else None
    ours = (server for server in servers if any(member.pid in pids for member in server.members))
    server = next(ours, None)
    return _taken(holder, uid, None if server is None else server.server_id)


def _taken(
    holder: Optional[processes.Process], uid: Optional[int], server_id: Optional[str]
) -> dict[str, Any]:
    return {
        "free": False,
        "pid": None if holder is None else holder.pid,
        "user": None if uid is None else accounts.name_of(uid),
        "command": None if holder is None else holder.command,
        "serverId": server_id,
    }
