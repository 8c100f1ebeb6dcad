"""A process of its own that outlives the SSH session: the supervisor is forked from the agent, nothing lies on disk."""

from __future__ import annotations

import ctypes
import os
import signal
import traceback
from pathlib import Path
from typing import Callable

_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36


def detach(name: str, crash_log: Path, body: Callable[[int], None]) -> int:
    """Runs `body(report)` in a detached process and returns the end of a pipe that hears what it writes to `report`.

    The process is a child of init, leads its own session, adopts orphans of its children, holds no descriptor
    but `report` and /dev/null, and stands in /. SIGHUP, SIGINT and SIGPIPE do not reach it.
    An unexpected error of `body` ends in `crash_log`.
    """
    hear, report = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            if os.fork() == 0:
                _run(name, body, report, crash_log)
        finally:
            os._exit(0)
    os.close(report)
    os.waitpid(between, 0)
    return hear


def _run(name: str, body: Callable[[int], None], report: int, crash_log: Path) -> None:
    try:
        _become_detached(name, report)
        body(report)
    except BaseException:
        descriptor = os.open(
            crash_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        os.write(descriptor, traceback.format_exc().encode())


def _become_detached(name: str, report: int) -> None:
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    os.chdir("/")
    _keep_only(report)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def _keep_only(report: int) -> None:
    """Closes everything that came from the agent: the SSH channel, and the locks, which would stay held."""
    for entry in os.listdir("/proc/self/fd"):
        if int(entry) != report:
            try:
                os.close(int(entry))
            except OSError:
                continue
    null = os.open("/dev/null", os.O_RDWR)
    for target in (0, 1, 2):
        if target == null:
            os.set_inheritable(null, True)
        elif target != report:
            os.dup2(null, target)
    if null > 2:
        os.close(null)
