"""Which overlays a server has built, and which are left over once it no longer needs them."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from agent import forgetting, lock, paths, records, registry
from agent.noted import Noted

_LOCK_WAIT_SECONDS = 60.0
_NOTED = Noted("overlays.json")


def exclusive(server_id: str) -> AbstractContextManager[None]:
    """Held while overlays are built or removed for a server: two servers may share one."""
    return lock.held(paths.overlays_folder() / ".lock", "server " + server_id, _LOCK_WAIT_SECONDS)


def note(server_id: str, name: str) -> None:
    """Writes down that the server uses the overlay, before it is built."""
    _NOTED.add(server_id, name)


def drop_earlier(server_id: str) -> None:
    """Removes those of earlier declarations: the one it runs from is proven, and each change may have built another."""
    with records.best_effort():
        _drop_if_any(server_id, keep=True)


def drop_all(server_id: str) -> None:
    _drop_if_any(server_id, keep=False)


def _drop_if_any(server_id: str, keep: bool) -> None:
    # Not to be made on a full disk only to find nothing in it.
    if paths.overlays_folder().is_dir():
        with exclusive(server_id):
            drop(server_id, keep)


def drop(server_id: str, keep: bool) -> list[str]:
    """Removes the server's overlays that no other one uses; `keep`: all but the one it was last started with.

    Call it under `exclusive`. Returns the names removed.
    """
    current = _name_in(registry.load_launch(server_id))
    noted = _names_of(server_id)
    kept = {current} if keep and current else set()
    removed = sorted(noted - kept - _used_by_others(server_id))
    for name in removed:
        remove(name)
    if keep and noted != kept:
        _NOTED.write(server_id, sorted(kept))
    return removed


def remove(name: str) -> None:
    """The overlay and its record. Links in it are removed, never what they lead to."""
    discard(paths.overlays_folder() / name)
    record_path(name).unlink(missing_ok=True)


def discard(path: Path) -> None:
    """Whatever stands there, in case another hand put a file or a link in an overlay's place."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def record_path(name: str) -> Path:
    return paths.overlays_folder() / (name + ".json")


def users(name: str) -> list[str]:
    """Servers that have built the overlay or were last started from it."""
    return [server_id for server_id in forgetting.users() if name in _names_of(server_id)]


def _used_by_others(server_id: str) -> set[str]:
    return {name for other in forgetting.users(server_id) for name in _names_of(other)}


def _names_of(server_id: str) -> set[str]:
    current = _name_in(registry.load_launch(server_id))
    return set(_NOTED.of(server_id)) | ({current} if current else set())


def _name_in(launch: Any) -> str:
    """Name of the overlay that a launch serves, "" for a checkpoint served as it is."""
    model = Path(str((launch or {}).get("modelPath", "")))
    return model.name if model.parent == paths.overlays_folder() else ""
