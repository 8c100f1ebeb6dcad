"""What a declared checkpoint came to: <stateRoot>/checkpoints/<key>.json, written as soon as the hub has told it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from agent import checkpoint_verify, paths, records
from agent.failure import AgentFailure
from agent.hub_cache import File, Snapshot

PREFIX = "checkpoints/"
_KEY = re.compile(r"[0-9a-f]{16}")
_TEXTS = ("repo", "revision", "cacheDir", "snapshot")


@dataclass(frozen=True)
class Checkpoint:
    snapshot: Snapshot
    # As declared: a branch, a tag, a commit; None: the default branch.
    declared: Optional[str]
    # Not with credentials; None: the host's own.
    endpoint: Optional[str]
    load_format: Optional[str]
    files: tuple[File, ...]

    @property
    def bytes(self) -> int:
        return sum({file.path: file.size for file in self.files}.values())

    @property
    def title(self) -> str:
        return f"{self.snapshot.repo}@{self.snapshot.revision[:12]}"

    def missing(self) -> list[File]:
        return self.snapshot.missing(self.files)

    def expected(self) -> list[checkpoint_verify.Expected]:
        return [checkpoint_verify.Expected(file.path, file.size, file.blob) for file in self.files]

    def hashes_file(self) -> Path:
        """Which hashes are known of the snapshot, whoever asked for them."""
        return hashes_file_of(self.snapshot.folder)


def folder() -> Path:
    return paths.state_root() / "checkpoints"


def hashes_file_of(checkpoint: Path) -> Path:
    """Likewise of any folder."""
    name = hashlib.sha256(os.fsencode(str(checkpoint))).hexdigest()[:16]
    return folder() / ("hashes-%s.json" % name)


def file_of(key: str) -> Path:
    """Refuses a key that could lead out of the folder."""
    if _KEY.fullmatch(key) is None:
        raise AgentFailure("AGENT_CRASHED", f"Cannot use checkpoint key {key!r}: need 16 hex digits")
    return folder() / (key + ".json")


def key_of(wish: object) -> Optional[str]:
    """The key in "checkpoints/<key>"; None for a path on the host."""
    text = str(wish or "")
    return text[len(PREFIX) :] if text.startswith(PREFIX) else None


def read(key: str) -> Optional[Checkpoint]:
    """None when there is none, or another hand has damaged it."""
    found = records.read_json(file_of(key))
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in _TEXTS):
        return None
    try:
        return Checkpoint(
            snapshot=Snapshot(Path(found["cacheDir"]), found["repo"], found["revision"]),
            declared=found.get("declared"),
            endpoint=found.get("endpoint"),
            load_format=found.get("loadFormat"),
            files=tuple(_file(entry) for entry in found["files"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def write(key: str, checkpoint: Checkpoint) -> None:
    records.write_json(
        file_of(key),
        {
            "repo": checkpoint.snapshot.repo,
            "declared": checkpoint.declared,
            "revision": checkpoint.snapshot.revision,
            "endpoint": checkpoint.endpoint,
            "loadFormat": checkpoint.load_format,
            "cacheDir": str(checkpoint.snapshot.cache),
            "snapshot": str(checkpoint.snapshot.folder),
            "files": [{"path": file.path, "size": file.size, "blob": file.blob} for file in checkpoint.files],
        },
    )


def all_keys() -> list[str]:
    place = folder()
    names = sorted(entry.name for entry in place.iterdir()) if place.is_dir() else []
    return [name[:-5] for name in names if name.endswith(".json") and _KEY.fullmatch(name[:-5])]


def _file(entry: Mapping[str, Any]) -> File:
    path, size, blob = entry["path"], entry["size"], entry["blob"]
    if not isinstance(path, str) or not isinstance(blob, str) or "/" in blob or blob in ("", ".", ".."):
        raise ValueError("no file")
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError("leads out of the snapshot")
    return File(path, int(size), blob)
