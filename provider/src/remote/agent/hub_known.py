"""What the cache alone says of a repository, as the hub's client noted it there. Nothing is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Optional

from agent import records
from agent.hub_cache import File, Snapshot

# Source: huggingface_hub 2.4.0, _tree_cache.py. Another number may mean another form.
_TREE_VERSION = 1
_SHA = re.compile(r"[0-9a-f]{40}")
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_commit(revision: Optional[str]) -> bool:
    return revision is not None and _SHA.fullmatch(revision) is not None


def commit_of(unresolved: Snapshot) -> Optional[str]:
    """To which commit the client resolved a branch or tag the last time, `unresolved.revision` being its name; None: never."""
    name = unresolved.revision
    if name.startswith("/") or ".." in name.split("/"):
        return None
    try:
        told = (unresolved.repo_folder / "refs" / name).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return told if is_commit(told) else None


def files(snapshot: Snapshot) -> Optional[list[File]]:
    """Every file of the commit, there or not; None: the client has no list of it, or none that can be read."""
    found = records.read_json(snapshot.repo_folder / "trees" / (snapshot.revision + ".json"))
    if not isinstance(found, dict) or found.get("format_version") != _TREE_VERSION:
        return None
    try:
        return [_file(path, entry) for path, entry in found["files"].items()]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _file(path: str, entry: Mapping[str, Any]) -> File:
    is_lfs = entry.get("lfs_sha256") is not None
    size = entry["lfs_size"] if is_lfs else entry["size"]
    blob = str(entry["lfs_sha256"] if is_lfs else entry["blob_id"])
    if path.startswith("/") or ".." in path.split("/") or _BLOB.fullmatch(blob) is None:
        raise ValueError("no file of a repository")
    return File(path, int(size), blob)
