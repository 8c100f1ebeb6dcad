"""What a folder tells of the hashes of its own files: one that the hub's client has filled knows most of them.

In its cache each file is a link to blobs/<hash>; beside a folder of `hf download --local-dir` stands
.cache/huggingface/download/<file>.metadata with three lines: commit, etag, time of the note. The etag of the hub is sha256 of an LFS
file, else git's sha1. Source: huggingface_hub 2.4.0, file_download.py and _local_folder.py.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Optional

from agent import selection
from agent.checkpoint_verify import INDEX_SUFFIX, Expected
from agent.hub_cache import File
from agent.weights import WEIGHT_SUFFIXES

_BLOBS = "blobs"
_NOTES = Path(".cache", "huggingface", "download")
# Of other hubs than the one whose client it is an etag can be anything.
_DIGEST = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
_MOST_LINKS = 40
# What the client allows itself, as file systems round times.
_ROUNDING_SECONDS = 1.0


def expected(folder: Path, load_format: Optional[str]) -> list[Expected]:
    """The files that vLLM loads from the folder, each with its hash where that is known. Raises OSError."""
    found = {path: _digest(folder, path) for path in _files(folder)}
    files = [File(path, 0, digest or "") for path, digest in found.items()]
    chosen = selection.select(files, load_format, None, None).files
    return [Expected(file.path, None, found[file.path]) for file in chosen]


def _files(folder: Path) -> list[str]:
    """Below the folder, hidden ones left out: they are somebody's notes. So are links to nowhere: a README that nobody fetched."""
    found: list[str] = []
    os.listdir(folder)  # os.walk tells nothing of a folder that cannot be read
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (os.path.join(place, name) for name in names if not name.startswith("."))
        found += [os.path.relpath(path, folder) for path in paths if os.path.isfile(path)]
    return sorted(found)


def _digest(folder: Path, path: str) -> Optional[str]:
    return _by_name_of_blob(folder / path) or _by_note(folder, path)


def _by_name_of_blob(path: Path) -> Optional[str]:
    """An overlay links to a cache that links to its blobs, which may lie elsewhere yet."""
    for _ in range(_MOST_LINKS):
        try:
            path = path.parent / os.readlink(path)
        except OSError:
            return None
        if path.parent.name == _BLOBS and _DIGEST.fullmatch(path.name):
            return path.name
    return None


def _by_note(folder: Path, path: str) -> Optional[str]:
    try:
        lines = (folder / _NOTES / (path + ".metadata")).read_text(encoding="utf-8").splitlines()
        _commit, etag, noted = (line.strip() for line in lines[:3])
        is_newer = os.stat(folder / path).st_mtime - _ROUNDING_SECONDS > float(noted)
    except (OSError, ValueError):
        return None
    # A config that was edited since is its owner's; nobody edits weights, they are copied or break.
    is_edited = is_newer and not path.endswith((*WEIGHT_SUFFIXES, INDEX_SUFFIX))
    return etag if _DIGEST.fullmatch(etag) and not is_edited else None
