"""What stands in a model folder, as far as planning a start needs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional

from agent import checkpoint_record, paths, weights
from agent.weights import WEIGHT_SUFFIXES

CONFIG_FILES = ("config.json", "hf_quant_config.json")

# The largest real one is below 1 MiB; nobody's 40 GB file becomes a reply.
LARGEST_CONFIG_BYTES = 16 * 1024 * 1024


def look(wish: str) -> dict[str, Any]:
    """CheckpointSeen of core/observed.ts, of a folder or of "checkpoints/<key>". Weight sizes are those of links' targets."""
    key = checkpoint_record.key_of(wish)
    return _look_at(paths.expand(wish)) if key is None else {**_look_at_download(key), "wish": wish}


def _look_at_download(key: str) -> dict[str, Any]:
    known = checkpoint_record.read(key)
    if known is None:
        return {"found": False, "path": checkpoint_record.PREFIX + key, "reason": "it is not downloaded yet"}
    name = f"{known.snapshot.repo}@{known.snapshot.revision}"
    missing = known.missing()
    if len(missing) == len(known.files):
        return {"found": False, "path": name, "reason": "it is not downloaded yet"}
    if missing:
        count = "%d of its %d files are" % (len(missing), len(known.files))
        return {"found": False, "path": name, "reason": f"{count} missing or not whole"}
    found = _look_at(known.snapshot.folder)
    return {**found, "revision": known.snapshot.revision} if found["found"] else found


def _look_at(folder: Path) -> dict[str, Any]:
    try:
        entries = sorted(os.listdir(folder))
        texts = {name: _text(folder / name) for name in CONFIG_FILES}
    except OSError as error:
        return _not_found(folder, _reason(folder, error))
    except ValueError as error:
        return _not_found(folder, str(error))
    sizes = {name: _size(folder / name) for name in entries if name.endswith(WEIGHT_SUFFIXES)}
    there = {name: size for name, size in sizes.items() if size is not None}
    return {
        "found": True,
        "path": str(folder),
        "files": texts,
        "weightFiles": len(there),
        "weightBytes": sum(there.values()),
        "loadedBytes": weights.loaded_bytes(there),
    }


def _not_found(folder: Path, reason: str) -> dict[str, Any]:
    return {"found": False, "path": str(folder), "reason": reason}


def _reason(folder: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it is a link to nowhere" if os.path.islink(folder) else "it does not exist"
    if isinstance(error, NotADirectoryError):
        return "it is a file, need a folder"
    if isinstance(error, PermissionError):
        return "%s cannot be read by uid %d" % (error.filename, os.getuid())
    return f"{error.filename}: {error.strerror}"


def _text(path: Path) -> Optional[str]:
    try:
        # newline="": the text is patched and written again as it stands.
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(LARGEST_CONFIG_BYTES + 1)
    except FileNotFoundError:
        if os.path.islink(path):
            raise ValueError(f"{path.name} is a link to nowhere (an unfinished download?)") from None
        return None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not UTF-8") from None
    if len(text) > LARGEST_CONFIG_BYTES:
        raise ValueError("%s is larger than %d bytes" % (path.name, LARGEST_CONFIG_BYTES))
    return text


def _size(path: Path) -> Optional[int]:
    """None for a link to nowhere: that file is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None
