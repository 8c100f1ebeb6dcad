"""Shared memory under /dev/shm: which of it is a server's, and taking away what nobody needs any more.

Names carry no owner (psm_<8 hex>), so a name counts as ours only while a process of ours has it mapped.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

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
    """Names mapped by these processes that were not there before (`present`): no clock that is set back, and
    no chmod of a weight file, can tell otherwise."""
    return {
        name for name in _mapped_by(pids) if (name, _inode(name)) not in before and _is_own_file(name, 0.0)
    }


def names_made_by(pids: Iterable[int], since: float) -> set[str]:
    """Names mapped by these processes that came to be after `since` (wall clock, seconds), for whoever did not see
    what lay there before.

    Only plain files right under /dev/shm of our own user: a model or a cache that somebody keeps in
    /dev/shm is mapped too, and is nobody's to delete.
    """
    return {name for name in _mapped_by(pids) if _is_own_file(name, since)}


def remove_unused(names: Iterable[str]) -> list[str]:
    """Removes those of the names that belong to our user and that no living process maps or has open."""
    candidates = {name for name in names if _is_own_file(name, 0.0)}
    if not candidates:
        return []
    unused = candidates - _names_in_use()
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


def _mapped_by(pids: Iterable[int]) -> set[str]:
    mapped: set[str] = set()
    for pid in pids:
        mapped |= _mapped_names(pid)
    return mapped


def _inode(name: str) -> int:
    try:
        return os.lstat(ROOT / name).st_ino
    except OSError:
        return -1


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


def _names_in_use() -> set[str]:
    used: set[str] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            used |= _mapped_names(int(entry)) | _open_names(int(entry))
    return used


def _mapped_names(pid: int) -> set[str]:
    prefix = os.fsencode(ROOT) + b"/"
    try:
        table = Path(f"/proc/{pid}/maps").read_bytes()
    except OSError:
        return set()
    if prefix not in table:
        return set()
    # As bytes: only \n ends a row. Anybody's file names are in here, with whatever else ends a line of text.
    paths = [row.split(maxsplit=5)[5] for row in table.split(b"\n") if prefix in row]
    names = (path[len(prefix) :] for path in paths if path.startswith(prefix))
    return {os.fsdecode(name) for name in names if not name.endswith(b" (deleted)")}


def _open_names(pid: int) -> set[str]:
    prefix = f"{ROOT}/"
    names = set()
    try:
        for descriptor in os.scandir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(descriptor.path)
            except OSError:
                continue
            if target.startswith(prefix):
                names.add(target[len(prefix) :])
    except OSError:
        pass
    return names
