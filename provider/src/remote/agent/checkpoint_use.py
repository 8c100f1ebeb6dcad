"""Which checkpoints the servers of this state root use, and which records are left over once none does."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from agent import checkpoint_record, forgetting, lock, overlay_use, paths, records, registry
from agent.noted import Noted

_LOCK_WAIT_SECONDS = 60.0
_NOTED = Noted("checkpoints.json")


def exclusive(server_id: str) -> AbstractContextManager[None]:
    """Held while a use is noted, and while files that nobody uses are removed."""
    return lock.held(checkpoint_record.folder() / ".lock", "server " + server_id, _LOCK_WAIT_SECONDS)


def exclusive_if_any(server_id: str) -> AbstractContextManager[None]:
    """Likewise, but nothing is made for it: on a full disk a server that has downloaded nothing can be forgotten."""
    return exclusive(server_id) if checkpoint_record.folder().is_dir() else nullcontext()


def note(server_id: str, key: str) -> None:
    """Writes down that the server uses the checkpoint, before any of it is fetched. Call it under `exclusive`."""
    _NOTED.add(server_id, key)


def keys_of(server_id: str) -> set[str]:
    """Those it has fetched and the one it was last started with."""
    current = _current(registry.load_launch(server_id))
    return set(_NOTED.of(server_id)) | ({current} if current else set())


def hand_over(server_id: str, successor: str) -> None:
    """What a server of an attempt that was cut has resolved and begun is its successor's."""
    if _NOTED.of(server_id):
        with exclusive(successor):
            for key in _NOTED.of(server_id):
                note(successor, key)
            _NOTED.remove(server_id)


def drop_earlier(server_id: str) -> None:
    """Forgets those of earlier declarations; their weights stay."""
    if not _NOTED.of(server_id):
        return
    with records.best_effort(), exclusive(server_id):
        current = _current(registry.load_launch(server_id))
        _forget(server_id, keys_of(server_id) - {current})
        _NOTED.write(server_id, [current] if current else [])


def drop_all(server_id: str) -> None:
    """Forgets all of the server's; call it under `exclusive`. Their weights stay."""
    _forget(server_id, keys_of(server_id), is_all=True)
    _NOTED.remove(server_id)


def keys_of_others(server_id: str) -> set[str]:
    return {key for other in forgetting.users(server_id) for key in keys_of(other)}


@dataclass(frozen=True)
class Use:
    """A place on the host that something of this state root reads: a file, or a folder with all that is in it."""

    path: str
    by: str


def uses(but: Optional[str] = None) -> list[Use]:
    """Of every server but one, and of every overlay."""
    found: list[Use] = []
    for server_id in forgetting.users(but):
        for checkpoint in map(checkpoint_record.read, sorted(keys_of(server_id))):
            if checkpoint is not None:
                files = (checkpoint.snapshot.folder / file.path for file in checkpoint.files)
                found += [Use(str(path), label(server_id)) for path in files]
        launch = registry.load_launch(server_id) or {}
        if checkpoint_record.key_of(launch.get("checkpointWish")) is None:
            # The folder too where an overlay of it is served: the next start is planned by what stands in it.
            places = {str(launch.get(name) or "") for name in ("modelPath", "checkpointWish")} - {""}
            found += [Use(str(paths.expand(place)), label(server_id)) for place in sorted(places)]
    return found + _uses_of_overlays(but)


def label(server_id: str) -> str:
    """For messages: several stacks may call theirs the same."""
    owner = registry.read_owner(server_id)
    return f"server {server_id}" + (f" of {owner['project']}/{owner['stack']}" if owner else "")


def _uses_of_overlays(but: Optional[str]) -> list[Use]:
    found: list[Use] = []
    for folder in sorted(_folders(paths.overlays_folder())):
        user = next((one for one in overlay_use.users(folder.name) if one != but), None)
        by = f"overlay {folder.name}" if user is None else label(user)
        found += [Use(os.readlink(entry.path), by) for entry in os.scandir(folder) if entry.is_symlink()]
    return found


def _folders(place: Path) -> list[Path]:
    return [entry for entry in place.iterdir() if entry.is_dir()] if place.is_dir() else []


def _forget(server_id: str, keys: set[str], is_all: bool = False) -> None:
    elsewhere = keys_of_others(server_id)
    for key in keys - elsewhere:
        checkpoint_record.file_of(key).unlink(missing_ok=True)
    left = (checkpoint_record.read(key) for key in checkpoint_record.all_keys())
    memories = {checkpoint.hashes_file() for checkpoint in left if checkpoint is not None}
    memories |= _memories_of_folders(server_id if is_all else None)
    folder = checkpoint_record.folder()
    for memory in folder.glob("hashes-*.json") if folder.is_dir() else ():
        if memory not in memories:
            memory.unlink(missing_ok=True)


def _memories_of_folders(but: Optional[str]) -> set[Path]:
    """Of checkpoints that servers but one were started from by their path."""
    wishes = [
        (registry.load_launch(server_id) or {}).get("checkpointWish") for server_id in forgetting.users(but)
    ]
    folders = (paths.expand(wish) for wish in wishes if wish and checkpoint_record.key_of(wish) is None)
    return {checkpoint_record.hashes_file_of(folder) for folder in folders}


def _current(launch: Any) -> str:
    return checkpoint_record.key_of((launch or {}).get("checkpointWish")) or ""
