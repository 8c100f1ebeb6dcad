"""Signals to one certain process, never to a pid that was given to another one since."""

from __future__ import annotations

import os
import signal

from agent import processes


def send(pid: int, start_ticks: int, number: int) -> bool:
    """Sends the signal if `pid` is still the process that started at `start_ticks`; says whether it did.

    A pidfd pins the process first, so that between the look and the signal the pid cannot change hands.
    Kernels before 5.3 have none: there the look comes right before the signal.
    """
    try:
        pinned = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except (AttributeError, OSError):
        return _send_unpinned(pid, start_ticks, number)
    try:
        if not processes.is_same(pid, start_ticks):
            return False
        signal.pidfd_send_signal(pinned, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(pinned)


def _send_unpinned(pid: int, start_ticks: int, number: int) -> bool:
    if not processes.is_same(pid, start_ticks):
        return False
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
