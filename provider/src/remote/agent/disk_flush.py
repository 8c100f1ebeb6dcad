"""Has everything that was written to a file system reach its disk."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

# The kernel by itself waits half a minute, or for a tenth of the memory: on a large host the whole of an environment.
PAUSE_SECONDS = 2.0
_STANDARD = (0, 1, 2)


def flush(folder: Path) -> None:
    """Returns when all of the folder's file system is on disk, so that a power cut after a record "complete" leaves no empty files
    behind it. Raises OSError where the disk refuses: what was written late shows only here on a full or broken one."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if libc.syncfs(descriptor) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def meanwhile(folder: Path) -> Iterator[None]:
    """What is written in the meantime goes to the disk at once, so that a flush after it has little to do. Raises OSError at the end
    where the disk refused: it says so once, and a later flush would hear nothing of it.

    By a process and no thread: whoever starts programs meanwhile has to have one thread only.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _flush_until_told(folder, reading)
    os.close(reading)
    try:
        yield
    except BaseException:
        # Nobody waits for what is thrown away.
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(writing)
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if error > 0:
        raise OSError(error, os.strerror(error))


def _flush_until_told(folder: Path, reading: int) -> NoReturn:
    """Also until the parent is gone: it alone holds the other end. Its locks are not held any longer than it lives."""
    code = errno.EIO
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor not in (reading, *_STANDARD):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        while not select.select([reading], [], [], PAUSE_SECONDS)[0]:
            flush(folder)
        code = 0
    except OSError as error:
        code = error.errno or errno.EIO
    finally:
        os._exit(code)
