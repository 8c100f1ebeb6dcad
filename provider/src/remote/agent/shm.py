"""Shared memory under /dev/shm: which of it is a server's, and taking away what nobody needs any more.

Names carry no owner (psm_<8 hex>), so a file counts as ours only while a process of ours has it mapped or open.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Optional

from agent import open_files

ROOT = Path("/dev/shm")
# A file is written a moment before the clock that is read for its server; a weight file lies there long before.
CLOCK_SLACK_SECONDS = 2.0


def present() -> frozenset[tuple[str, int]]:
    """Name and inode of all that lies there now."""
    try:
        return frozenset((entry.name, entry.inode()) for entry in os.scandir(ROOT))
    except OSError:
        return frozenset()


def names_new_to(pids: Iterable[int], before: frozenset[tuple[str, int]]) -> set[str]:
    """Names that these processes map or have open and that were not there before (`present`): no clock that is set
    back, and no chmod of a weight file, can tell otherwise."""
    return {
        name
        for name in open_files.names_in_use(ROOT, pids)
        if (name, inode_of(name)) not in before and _is_own_file(name, 0.0)
    }


def names_made_by(pids: Iterable[int], since: float) -> set[str]:
    """Names that these processes map or have open and that came to be after `since` (wall clock, seconds), for whoever
    did not see what lay there before.

    Only plain files right under /dev/shm of our own user: a model or a cache that somebody keeps in
    /dev/shm is mapped too, and is nobody's to delete.
    """
    return {name for name in open_files.names_in_use(ROOT, pids) if _is_own_file(name, since)}


def inodes(names: Iterable[str]) -> dict[str, int]:
    """Which file each of the names means now: a name can be given to another one later."""
    found = {name: inode_of(name) for name in names}
    return {name: inode for name, inode in found.items() if inode is not None}


def remove_unused(names: Iterable[str], recorded: Optional[Mapping[str, int]] = None) -> list[str]:
    """Removes those of the names that belong to our user and that no living process maps or has open. One whose inode
    is not the recorded one is another file by now, and stays."""
    known = recorded or {}
    candidates = {
        name
        for name in names
        if _is_own_file(name, 0.0) and known.get(name, inode_of(name)) == inode_of(name)
    }
    if not candidates:
        return []
    unused = candidates - open_files.names_in_use(ROOT)
    removed = []
    for name in sorted(unused):
        try:
            os.unlink(ROOT / name)
        except OSError:
            continue
        removed.append(name)
    return removed


def existing(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if os.path.lexists(ROOT / name))


def inode_of(name: str) -> Optional[int]:
    """None: there is no such file."""
    try:
        return os.lstat(ROOT / name).st_ino
    except OSError:
        return None


def _is_own_file(name: str, since: float) -> bool:
    if "/" in name or name in ("", ".", ".."):
        return False
    try:
        found = os.lstat(ROOT / name)
    except OSError:
        return False
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_uid == os.getuid()
        and found.st_ctime >= since - CLOCK_SLACK_SECONDS
    )
