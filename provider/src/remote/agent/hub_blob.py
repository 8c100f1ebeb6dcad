"""One blob of the hub's cache: its size, its lock, its end."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Optional


@contextmanager
def locked(place: Path) -> Iterator[bool]:
    """Holds the lock that the client holds while it downloads; False when somebody has it, or there can be none."""
    descriptor = None
    # Others who share the cache have to be able to lock there as well.
    umask = os.umask(0o022)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o664)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = True
    except OSError:
        is_ours = False
    finally:
        os.umask(umask)
    try:
        yield is_ours
    finally:
        if descriptor is not None:
            os.close(descriptor)


def size_of(path: Path) -> Optional[int]:
    """None: it is not there, or a link to nowhere."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def unlink(path: Path) -> int:
    """Bytes of the file itself that was there, 0 for a link or nothing."""
    try:
        size = 0 if path.is_symlink() else path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    return size
