"""Waits for the end of a process, a child or not, and hears of it at once."""

from __future__ import annotations

import os
import select
import time


def wait(pid: int, seconds: float) -> None:
    """Returns when the process has ended, as a zombie too, or is not there, and after that many seconds at the latest."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except OSError:
        # Linux before 5.3.
        time.sleep(seconds)
        return
    try:
        select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)
