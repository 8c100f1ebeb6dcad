"""TMPDIR of a server: vLLM leaves seven sockets there at every start, even after a clean exit."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

from agent import open_files
from agent.failure import AgentFailure


def prepare(folder: Path) -> None:
    """Makes the folder, 0700 and ours. Refuses one that somebody else put in its place (it can lie in /tmp)."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_ours(folder):
        raise AgentFailure(
            "PERMISSION_DENIED",
            f"Cannot use {folder} for temporary files: it is not a folder of this user, need one that is",
            change=f"remove {folder} on the host",
        )
    os.chmod(folder, 0o700)


def empty(folder: Path) -> None:
    """Removes everything in the folder, following no link. What cannot be removed stays, and so does what a living
    process maps or has open: nothing of the server lives when this is called, so it is somebody else's by now."""
    if not _is_ours(folder):
        return
    entries = list(os.scandir(folder))
    in_use = open_files.names_in_use(folder) if entries else set()
    for entry in entries:
        if entry.name in in_use:
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            try:
                os.unlink(entry.path)
            except OSError:
                continue


def remove(folder: Path) -> None:
    """Removes the folder and everything in it; one that is somebody else's, or a link, stays."""
    if _is_ours(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
