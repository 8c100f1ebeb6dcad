"""Whose server answers on the port: two that start together can both believe it is theirs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Optional

from agent import accounts, processes, readiness, sockets

# Asked only when it matters: it costs a look at every process of the host.
Members = Callable[[], "list[processes.Process]"]
STARTED = "Application startup complete."
# uvicorn prints STARTED right before it listens; a loser never does. Source: vLLM 0.32.0, observed. A winner that listens is
# seen at once; where nobody does, a host that is busy may take its time.
LISTEN_SECONDS = 20.0


@dataclass
class PortWatch:
    address: str
    port: int
    # Monotonic time at which the log said that start-up is complete.
    started_at: Optional[float] = None

    def hear(self, line: str) -> None:
        if self.started_at is None and STARTED in line:
            self.started_at = time.monotonic()

    def is_ours(self, members: Members) -> bool:
        return bool(sockets.listeners(self.port)) and bool(readiness.own_listeners(self.port, members()))

    def lost_to(self, members: Members) -> Optional[dict[str, Any]]:
        """WaitResult "port-lost" once the log says ready and the port is somebody else's, or nobody's for too long."""
        if self.started_at is None:
            return None
        # First who listens, then who of them is ours: one of ours that begins to in between is not taken for somebody else.
        listening = sockets.listeners(self.port)
        own = readiness.own_listeners(self.port, members())
        others = [
            (inode, uid)
            for inode, uid, address in listening
            if inode not in own and sockets.overlaps(address, self.address)
        ]
        if others:
            return _lost(*others[0])
        if not own and time.monotonic() - self.started_at > LISTEN_SECONDS:
            return _lost(None, None)
        return None


def _lost(inode: Optional[int], uid: Optional[int]) -> dict[str, Any]:
    pid = None if inode is None else sockets.owner_of_inode(inode)
    winner = None if pid is None else processes.read_process(pid)
    return {
        "outcome": "port-lost",
        "winnerPid": pid,
        "winnerCommand": None if winner is None else winner.command,
        "winnerUser": None if uid is None else accounts.name_of(uid),
    }
