"""The state folder of a server, and its end."""

from __future__ import annotations

import contextlib
import os
import shutil

from agent import paths, records, temp_files

_LAST = ("owner.json", "forgetting.json")


def remove(server_id: str) -> None:
    """The server's temp folder and state folder; owner.json after all that tells what the server uses, the mark that it is
    being forgotten (forgetting.py) after that: others look in between.
    """
    temp_files.remove(paths.temp_folder(server_id))
    folder = paths.server_folder(server_id)
    if not folder.is_dir():
        return
    with records.disk_failures("remove", folder):
        for entry in os.scandir(folder):
            if entry.name in _LAST:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        for name in _LAST:
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder)


def remove_unclaimed(server_id: str) -> None:
    """Takes the server's folder away when it holds nothing but its lock, which the caller has: a step that failed
    first of all, or that waited while the server was forgotten, leaves no trace."""
    folder = paths.server_folder(server_id)
    with contextlib.suppress(OSError):
        if set(os.listdir(folder)) <= {"lock", "lock.json"}:
            shutil.rmtree(folder)
