"""Runs one program of the host to its end or its deadline."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Optional

# What sits in the kernel (state D: a driver that hangs) does not even heed SIGKILL, and is left to its fate.
_REAP_SECONDS = 3.0


@dataclass(frozen=True)
class Outcome:
    # None: it did not end within the deadline and was killed.
    code: Optional[int]
    stdout: str
    stderr: str


def run(argv: Sequence[str], environment: dict[str, str], deadline_seconds: float) -> Outcome:
    """Runs argv (argv[0] absolute) with this environment and no stdin, in its own session.

    Output goes to memory files, not pipes: a daemon that a login script leaves behind would hold a pipe open.
    Raises OSError when it cannot be started.
    """
    with _memory("stdout") as out, _memory("stderr") as err:
        child = subprocess.Popen(
            list(argv),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd="/",
            start_new_session=True,
        )
        code: Optional[int] = None
        try:
            code = _wait(child, deadline_seconds)
        finally:
            if code is None:
                _kill_session(child)
        return Outcome(code, _text(out), _text(err))


def _wait(child: subprocess.Popen[bytes], seconds: float) -> Optional[int]:
    """Exit code, or None after `seconds`."""
    try:
        handle = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        # A Python built without it, or a kernel before 5.3: wait() asks again and again, up to 50 ms apart.
        try:
            return child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return child.wait() if poll.poll(seconds * 1000) else None
    finally:
        os.close(handle)


def _kill_session(child: subprocess.Popen[bytes]) -> None:
    # Not reaped yet, so its number is still its own, and so is its group's.
    os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=_REAP_SECONDS)


def _memory(name: str) -> IO[bytes]:
    return os.fdopen(os.memfd_create(name), "w+b")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
