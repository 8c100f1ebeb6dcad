"""Has everything that was written to a file system reach its disk."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


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
