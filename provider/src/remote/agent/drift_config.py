"""serve.yaml as it stands on disk against the one that the server was last started with."""

from __future__ import annotations

import os
from typing import Any, Optional

from agent import launch_files, process_age, records, run_record
from agent.registry import Server

# Ours have a few kilobytes; of what another hand made of it so much is enough to tell it by.
_MOST_CHARACTERS = 64 * 1024


def look(server: Server) -> Optional[dict[str, Any]]:
    """{wanted, found, isRead} where it differs; None: it does not, or nothing runs. `found` is None for a file that is
    gone or no text; `isRead`: it was so when the running process began."""
    wanted = (server.launch or {}).get("configYaml")
    began = began_at(server)
    if not isinstance(wanted, str) or began is None:
        return None
    path = launch_files.config_path(server.server_id)
    found = _text(str(path))
    if found == wanted:
        return None
    return {
        "wanted": wanted[:_MOST_CHARACTERS],
        "found": None if found is None else found[:_MOST_CHARACTERS],
        "isRead": changed_at(str(path)) <= began,
    }


def began_at(server: Server) -> Optional[float]:
    """When its leader began, seconds of the wall clock."""
    leader = run_record.living(server.run, "leader")
    return None if leader is None else process_age.began_at(leader[1])


def changed_at(path: str) -> float:
    """When what stands at the path was changed: the file, the link itself, or, for what is gone, the folder it was in."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        pass
    try:
        return os.stat(os.path.dirname(path)).st_mtime
    except OSError:
        return 0.0


def _text(path: str) -> Optional[str]:
    try:
        return records.read_text(path)
    except OSError:
        return None
