"""Swaps two paths in one step, so that neither is ever missing."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange(one: Path, other: Path) -> None:
    """Afterwards each path holds what the other held. Both exist, on one file system.

    Where the kernel or the file system cannot (NFS, musl), by three renames: `other` is missing for a moment.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
            return
    except (AttributeError, OSError):
        pass
    between = one.with_name(one.name + "0")
    os.rename(other, between)
    os.rename(one, other)
    os.rename(between, one)
