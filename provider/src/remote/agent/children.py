"""The supervisor's ear: hears when a child ends and when it is told to stop, and leaves no zombie."""

from __future__ import annotations

import os
import signal
from typing import Optional

_HEARD = {signal.SIGCHLD, signal.SIGTERM}


class Children:
    """Every child counts, orphans that were adopted too; the leader's wait status is kept."""

    def __init__(self) -> None:
        self.is_told_to_stop = False
        # Of the newest leader, None while it lives.
        self.leader_status: Optional[int] = None
        self._leader: Optional[int] = None
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)

    def watch(self, leader: int) -> None:
        self._leader = leader
        self.leader_status = None

    def pause(self, seconds: float) -> None:
        """Waits, but no longer than until a child ends or somebody asks for a stop."""
        heard = signal.sigtimedwait(_HEARD, seconds)
        if heard is not None and heard.si_signo == signal.SIGTERM:
            self.is_told_to_stop = True
        self.reap()

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._leader:
                self._leader = None
                self.leader_status = status
