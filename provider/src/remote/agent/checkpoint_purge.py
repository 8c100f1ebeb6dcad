"""Removes the files of a server's checkpoints that nobody else uses: the only hand that is ever laid on weights."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Optional

from agent import checkpoint_record, checkpoint_use, registry
from agent.checkpoint_record import Checkpoint
from agent.hub_blob import unlink
from agent.hub_cache import Snapshot

# Another hand's client can have put blobs there, of all repositories of a cache. Source: huggingface_hub 2.4.0, utils/_shared_blobs.py.
_IN_STORE = (
    "in the store that the repositories of this cache share, where `hf cache prune` removes what is not used"
)


def run(server_id: str) -> dict[str, Any]:
    """ForgetResult of remote/protocol.ts. Call it under checkpoint_use.exclusive, once the server's own overlays are gone.

    Kept are files that another server or an overlay of this state root uses, and blobs of other cached revisions.
    """
    users = _Users(checkpoint_use.uses(but=server_id))
    freed = 0
    kept: list[str] = []
    for key in sorted(checkpoint_use.keys_of(server_id)):
        checkpoint = checkpoint_record.read(key)
        if checkpoint is not None:
            bytes_freed, reasons = _purge(checkpoint, users)
            freed += bytes_freed
            kept += reasons
    return {"freedBytes": freed, "kept": kept + _own_folder(server_id)}


def _own_folder(server_id: str) -> list[str]:
    """Said of a checkpoint that is no download: it is never removed."""
    wish = (registry.load_launch(server_id) or {}).get("checkpointWish")
    is_own = isinstance(wish, str) and checkpoint_record.key_of(wish) is None
    return [f"{wish}: it was not downloaded for this server"] if is_own else []


class _Users:
    def __init__(self, uses: Sequence[checkpoint_use.Use]) -> None:
        self._places: dict[str, str] = {}
        for use in uses:
            self._places.setdefault(_place(use.path), use.by)
            # Also a blob that is used directly.
            self._places.setdefault(os.path.realpath(use.path), use.by)

    def of(self, path: Path) -> Optional[str]:
        """Who uses the file itself, or a folder it is in."""
        place = Path(_place(str(path)))
        return next(
            (self._places[str(one)] for one in (place, *place.parents) if str(one) in self._places), None
        )

    def of_blob(self, blob: Path) -> Optional[str]:
        """That somebody uses it by another name than that of a cached revision; None: nobody does."""
        user = self._places.get(os.path.realpath(blob))
        return None if user is None else f"used by {user}"


def _purge(checkpoint: Checkpoint, users: _Users) -> tuple[int, list[str]]:
    snapshot = checkpoint.snapshot
    reasons: Counter[str] = Counter()
    blobs: list[Path] = []
    freed = 0
    for file in checkpoint.files:
        pointer = snapshot.folder / file.path
        user = users.of(pointer)
        if user is not None:
            reasons[f"used by {user}"] += 1
            continue
        blobs += [snapshot.blobs / Path(os.path.realpath(pointer)).name] if pointer.is_symlink() else []
        blobs.append(snapshot.blobs / file.blob)
        freed += unlink(pointer)
    linked = dict(_links(snapshot))
    for blob in dict.fromkeys(blobs):
        revision = linked.get(os.path.realpath(blob))
        why = f"also in revision {revision}" if revision is not None else users.of_blob(blob)
        if why is not None and blob.exists():
            reasons[why] += 1
            continue
        is_stored = blob.is_symlink()
        with snapshot.locked(blob.name) as is_ours:
            freed += unlink(blob) if is_ours else 0
        if is_ours and is_stored:
            reasons[_IN_STORE] += 1
        if not is_ours and blob.exists():
            reasons["being downloaded by somebody"] += 1
    freed += snapshot.remove_stale()
    others = _tidy(snapshot)
    if others and not reasons:
        reasons["not selected by this server"] += others
    told = sorted(reasons.items())
    return freed, [f"{_files(count)} of {checkpoint.title}: {why}" for why, count in told]


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _links(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Blobs that a revision still links to, and that revision."""
    for folder in sorted((snapshot.repo_folder / "snapshots").glob("*")):
        for place, _folders, names in os.walk(folder):
            for name in names:
                yield os.path.realpath(os.path.join(place, name)), folder.name[:12]


def _tidy(snapshot: Snapshot) -> int:
    """Takes away folders and notes of the client about a revision of which nothing is left; returns the files that are."""
    for place, folders, names in os.walk(snapshot.folder, topdown=False):
        if not names and all(not os.path.isdir(os.path.join(place, folder)) for folder in folders):
            os.rmdir(place)
    if snapshot.folder.exists():
        return sum(len(names) for _place, _folders, names in os.walk(snapshot.folder))
    repo = snapshot.repo_folder
    for note in (*(repo / "refs").rglob("*"), *(repo / "trees").glob(snapshot.revision + "*")):
        if note.is_file() and (note.parent.name == "trees" or note.read_text().strip() == snapshot.revision):
            note.unlink()
    shutil.rmtree(repo / ".no_exist" / snapshot.revision, ignore_errors=True)
    if not any((repo / "snapshots").glob("*")) and not any((repo / "blobs").glob("*")):
        shutil.rmtree(repo, ignore_errors=True)
    return 0


def _place(path: str) -> str:
    """The path with links resolved in the folders that lead to it."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
