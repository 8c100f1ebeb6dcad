"""What lies in a folder and is mapped or held open by processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Optional

_DELETED = b" (deleted)"


def names_in_use(folder: Path, pids: Optional[Iterable[int]] = None) -> set[str]:
    """Names right in `folder` that these processes map or have open, or that have something so below them.

    Without `pids`: every process that can be looked into. Another user's can be looked into by root alone.
    """
    prefix = os.fsencode(folder) + b"/"
    seen = (int(name) for name in os.listdir("/proc") if name.isdigit()) if pids is None else pids
    paths = (path for pid in seen for path in _paths(pid, prefix))
    return {os.fsdecode(path[len(prefix) :].split(b"/")[0]) for path in paths}


def _paths(pid: int, prefix: bytes) -> Iterator[bytes]:
    place = f"/proc/{pid}"
    table = _maps(place)
    if not table:
        # Its first thread has ended, which makes it look like a zombie; what the others have is told at theirs.
        place = _other_thread(pid) or place
        table = _maps(place)
    for path in (*_mapped(table, prefix), *_opened(place)):
        if path.startswith(prefix) and not path.endswith(_DELETED):
            yield path


def _mapped(table: bytes, prefix: bytes) -> Iterator[bytes]:
    if prefix not in table:
        return
    # As bytes: only \n ends a row. Anybody's file names are in here, with whatever else ends a line of text.
    for row in table.split(b"\n"):
        if prefix in row:
            path = row.split(maxsplit=5)[5]
            yield path
            # The kernel writes a line end in a name as four characters here, and as itself elsewhere.
            yield path.replace(b"\\012", b"\n")


def _opened(place: str) -> Iterator[bytes]:
    folder = os.fsencode(f"{place}/fd")
    try:
        descriptors = os.listdir(folder)
    except OSError:
        return  # gone, or another user's
    for descriptor in descriptors:
        try:
            yield os.readlink(folder + b"/" + descriptor)
        except OSError:
            continue


def _maps(place: str) -> bytes:
    try:
        with open(f"{place}/maps", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _other_thread(pid: int) -> Optional[str]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    return next((f"/proc/{pid}/task/{thread}" for thread in threads if thread != str(pid)), None)
