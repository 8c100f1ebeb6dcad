"""One start of vLLM: own session, own log, clean signals, and on record before it runs its first instruction."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, NoReturn

_RESET = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGXFSZ", "SIGCHLD")


@dataclass(frozen=True)
class Command:
    executable: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    # The agent's own mask, so that caches vLLM shares with others keep their usual modes.
    umask: int


class CannotExecute(Exception):
    """The kernel would not run the executable. `error` is its errno."""

    def __init__(self, error: int) -> None:
        super().__init__(os.strerror(error))
        self.error = error


def spawn(command: Command, log: Path, on_forked: Callable[[int], None]) -> int:
    """Starts the command and returns its pid. `on_forked(pid)` runs before the command does: when it raises,
    or this process dies in it, the command never runs. Raises CannotExecute; the child is then left to be reaped."""
    log_descriptor = os.open(
        log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    go_read, go_write = os.pipe()
    failed_read, failed_write = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        # No more processes for this user: the supervisor tries again later, and must not run out of files by that.
        for descriptor in (log_descriptor, go_read, go_write, failed_read, failed_write):
            os.close(descriptor)
        raise
    if pid == 0:
        os.close(go_write)
        os.close(failed_read)
        _become(command, log_descriptor, go_read, failed_write)
    for descriptor in (log_descriptor, go_read, failed_write):
        os.close(descriptor)
    try:
        on_forked(pid)
        os.write(go_write, b"g")
    finally:
        os.close(go_write)
        with os.fdopen(failed_read, "rb") as failure:
            error = failure.read()
    if error:
        raise CannotExecute(int(error))
    return pid


def _become(command: Command, log: int, go: int, failed: int) -> NoReturn:
    try:
        os.setsid()
        os.umask(command.umask)
        os.dup2(log, 1)
        os.dup2(log, 2)
        for name in _RESET:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        if os.read(go, 1) == b"g":
            os.execve(command.executable, [command.executable, *command.arguments], dict(command.environment))
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(127)
