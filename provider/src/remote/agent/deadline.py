"""Ends the agent when its time is up, whatever it is doing."""

from __future__ import annotations

import os
import signal
import time

from agent import events

# Time for locks and half-built folders to be given up in order.
GRACE_SECONDS = 10.0
TICK_SECONDS = 1.0
EXIT_STUCK = 4


class DeadlinePassed(BaseException):
    """Raised once in the main thread. No Exception: nothing that handles ordinary failures may swallow it."""


def start(seconds: float) -> None:
    """Raises DeadlinePassed after `seconds`; a process still there 10 s later ends itself with 4."""
    end = time.monotonic() + seconds
    raised = False

    def on_alarm(_signal: int, _frame: object) -> None:
        nonlocal raised
        if time.monotonic() > end + GRACE_SECONDS:
            os._exit(EXIT_STUCK)
        # A line that is half written is finished first; the next tick comes in a second.
        if raised or events.is_writing():
            return
        raised = True
        raise DeadlinePassed()

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), TICK_SECONDS)


def cancel() -> None:
    """For the last words: nothing can interrupt them any more."""
    signal.setitimer(signal.ITIMER_REAL, 0)
