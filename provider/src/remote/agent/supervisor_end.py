"""The supervisor of a stopped server ends by itself once it sees the stop intent; else it is made to."""

from __future__ import annotations

import signal
import time

from agent import run_record, signals

_BY_ITSELF_SECONDS = 10.0
_AFTER_TERM_SECONDS = 2.0
_AFTER_KILL_SECONDS = 5.0


def await_end(server_id: str) -> None:
    """Returns when no supervisor lives, or when even SIGKILL does not end it."""
    for number, seconds in (
        (None, _BY_ITSELF_SECONDS),
        (signal.SIGTERM, _AFTER_TERM_SECONDS),
        (signal.SIGKILL, _AFTER_KILL_SECONDS),
    ):
        supervisor = run_record.living(run_record.read(server_id), "supervisor")
        if supervisor is None:
            break
        if number is not None:
            signals.send(*supervisor, number)
        _wait(server_id, seconds)


def _wait(server_id: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while run_record.living(run_record.read(server_id), "supervisor") is not None and time.monotonic() < end:
        time.sleep(0.1)
