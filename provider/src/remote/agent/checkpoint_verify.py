"""Whether a checkpoint is whole: every shard there, of its size, its header intact, and its bytes right when asked."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

from agent import blob_hash, safetensors_file
from agent.weights import WEIGHT_SUFFIXES

INDEX_SUFFIX = ".index.json"
LARGEST_INDEX_BYTES = 256 * 1024 * 1024
Tell = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Expected:
    """A file of the checkpoint; None: nobody told its size, its hash (sha256 or git's sha1)."""

    path: str
    size: Optional[int] = None
    digest: Optional[str] = None


@dataclass(frozen=True)
class Bad:
    path: str
    why: str


def check(
    folder: Path, files: Sequence[Expected], memory: Optional[Path] = None, tell: Optional[Tell] = None
) -> list[Bad]:
    """Files that are not right and why, by their paths.

    With `memory`, every byte of those with a known digest is hashed, unless that is remembered there.
    """
    bad = {file.path: why for file in files if (why := _fault(folder / file.path, file.size)) is not None}
    for index in (file.path for file in files if file.path.endswith(INDEX_SUFFIX)):
        if index not in bad:
            bad = {**_faults_of_index(folder, index, {file.path for file in files}), **bad}
    if memory is not None:
        wanted = {
            Path(os.path.realpath(folder / file.path)): file
            for file in files
            if file.digest is not None and file.path not in bad
        }
        digests = {path: str(file.digest) for path, file in wanted.items()}
        for path, found in blob_hash.wrong(digests, memory, tell or _silent).items():
            bad[wanted[path].path] = (
                f"its hash is {found[:12]}..., the hub says {str(wanted[path].digest)[:12]}..."
            )
    return [Bad(path, why) for path, why in sorted(bad.items())]


def of_folder(folder: Path) -> list[Expected]:
    """What a folder on the host holds that can be looked at: weights and their indexes. Raises OSError."""
    names = sorted(os.listdir(folder))
    return [Expected(name) for name in names if name.endswith((*WEIGHT_SUFFIXES, INDEX_SUFFIX))]


def _fault(path: Path, size: Optional[int]) -> Optional[str]:
    try:
        found = os.stat(path).st_size
        if size is not None and found != size:
            return "it has %d bytes, the hub says %d" % (found, size)
        return safetensors_file.fault(path) if path.name.endswith(".safetensors") else None
    except FileNotFoundError:
        return "it is a link to nowhere" if path.is_symlink() else "it is not there"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def _faults_of_index(folder: Path, index: str, known: set[str]) -> dict[str, str]:
    """Shards that the index names and that are not there. An index of a format that was left out counts as none."""
    try:
        shards = _shards(folder / index)
    except (OSError, ValueError, AttributeError, TypeError):
        return {index: "it is no index of shards: damaged JSON"}
    beside = index.rpartition("/")[0]
    named = sorted({os.path.join(beside, shard) for shard in shards})
    if not any(shard in known for shard in named) and any(name.endswith(WEIGHT_SUFFIXES) for name in known):
        return {}
    return {
        shard: f"{index} names it and it is not there" for shard in named if not (folder / shard).is_file()
    }


def _shards(path: Path) -> set[str]:
    with open(path, encoding="utf-8") as file:
        text = file.read(LARGEST_INDEX_BYTES)
    # Some name no shards (an index of another tool); they promise nothing.
    return {str(shard) for shard in json.loads(text).get("weight_map", {}).values()}


def _silent(_files: int, _bytes: int, _total: int) -> None:
    pass
