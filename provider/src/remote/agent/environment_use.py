"""Which environments of vLLM a server needs, and which are left over once no server does."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import AbstractContextManager
from typing import Optional

from agent import environments, forgetting, job, lock, records, registry, uv_tool
from agent.noted import Noted

_LOCK_WAIT_SECONDS = 60.0
_NOTED = Noted("environments.json")
_REMOVED = ".removed-"


def exclusive(server_id: str) -> AbstractContextManager[None]:
    """Held while it is written down or looked at who needs what."""
    return lock.held(environments.folder() / ".lock", "server " + server_id, _LOCK_WAIT_SECONDS)


def note(server_id: str, name: str) -> None:
    """Writes down that the server needs the environment, before it is looked for or built."""
    with exclusive(server_id):
        _NOTED.add(server_id, name)


def drop_earlier(server_id: str) -> list[str]:
    """Once a server runs: it needs the environment that it was started from, and none of before. Returns the names removed."""
    with records.best_effort():
        if environments.folder().is_dir():
            with exclusive(server_id):
                current = _launched(server_id)
                kept = [current] if current else []
                if _NOTED.of(server_id) != kept:
                    _NOTED.write(server_id, kept)
                removed = _put_aside(None)
            _delete_removed()
            return removed
    return []


def drop_all(server_id: str) -> list[str]:
    """For a server that is forgotten; with the last one, what was fetched to build environments goes as well."""
    removed: list[str] = []
    if environments.folder().is_dir():
        with exclusive(server_id):
            removed = _put_aside(server_id)
        _delete_removed()
    if not forgetting.users(server_id):
        uv_tool.drop()
    return removed


def hand_over(server_id: str, to_server_id: str) -> None:
    """What one needs that is given up, the other one is taken to need: they are the same resource, and it took long to build."""
    for name in [*_NOTED.of(server_id), _launched(server_id)]:
        if name:
            note(to_server_id, name)


def _put_aside(forgotten: Optional[str]) -> list[str]:
    """Takes those that nobody needs out of reach, in an instant each. Call it under `exclusive`."""
    needed: set[str] = set()
    for server_id in forgetting.users(forgotten):
        needed.update([*_NOTED.of(server_id), _launched(server_id)])
    left = [
        name
        for name in environments.names()
        if name not in needed and not job.is_running(environments.job_key(name))
    ]
    for name in left:
        aside = environments.folder() / f"{_REMOVED}{name}-{secrets.token_hex(4)}"
        os.rename(environments.path(name), aside)
    return left


def _delete_removed() -> None:
    """Those of a run that was cut off as well."""
    for entry in list(os.scandir(environments.folder())):
        if entry.name.startswith(_REMOVED):
            shutil.rmtree(entry.path, ignore_errors=True)


def _launched(server_id: str) -> str:
    """Name of the environment that the server was last started from; "" for a vllm from elsewhere."""
    return environments.name_in((registry.load_launch(server_id) or {}).get("executable", ""))
