"""The cache that the hub's client keeps on the host: which files of a checkpoint are there, and what is left over.

Layout: models--org--name/{blobs/<hash>, snapshots/<revision>/<file> -> blob}; a download in flight is blobs/<hash>.<8 hex>.incomplete,
under the lock .locks/models--org--name/<hash>.lock. Source: huggingface_hub 2.4.0, file_download.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from agent import hub_blob, paths
from agent.hub_blob import size_of, unlink

# Never used again by a client that names them so; older ones resume "<hash>.incomplete", which stays.
_STALE = re.compile(r"(.+)\.[0-9a-f]{8}\.incomplete")

# In the order in which the client looks. Source: huggingface_hub 2.4.0, constants.py.
_PLACES = (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub"))


@dataclass(frozen=True)
class File:
    """A file of a revision as the hub tells it. `blob`: sha256 of an LFS file, else git's sha1; the name it is cached under."""

    path: str
    size: int
    blob: str


def folder(declared: Optional[str], login: Mapping[str, str]) -> Path:
    """Where the client of that login keeps its cache, unless it is declared."""
    if declared:
        return paths.expand(declared)
    for variable, below in _PLACES:
        if login.get(variable):
            return paths.expand(login[variable]) / below
    return paths.home() / ".cache" / "huggingface" / "hub"


@dataclass(frozen=True)
class Snapshot:
    """One revision of one repository in one cache."""

    cache: Path
    repo: str
    revision: str

    @property
    def repo_folder(self) -> Path:
        return self.cache / ("models--" + self.repo.replace("/", "--"))

    @property
    def blobs(self) -> Path:
        return self.repo_folder / "blobs"

    @property
    def folder(self) -> Path:
        return self.repo_folder / "snapshots" / self.revision

    def is_there(self, file: File) -> bool:
        """With its right size; whether its bytes are right is for checkpoint_verify."""
        return size_of(self.folder / file.path) == file.size

    def missing(self, files: Sequence[File]) -> list[File]:
        return [file for file in files if not self.is_there(file)]

    def missing_bytes(self, files: Sequence[File]) -> int:
        """What would have to come over the network: a blob that another revision brought is only linked."""
        wanted = {file.blob: file.size for file in self.missing(files)}
        return sum(size for blob, size in wanted.items() if size_of(self.blobs / blob) != size)

    def discard(self, file: File) -> int:
        """Takes away a file that is not right, so that the client fetches it: it never looks at a blob again. Running
        servers keep what they have mapped. Returns the bytes freed."""
        pointer = self.folder / file.path
        freed = 0
        for blob in {Path(os.path.realpath(pointer)), self.blobs / file.blob}:
            if blob.parent == Path(os.path.realpath(self.blobs)) or blob.parent == self.blobs:
                with self.locked(blob.name) as is_ours:
                    freed += unlink(blob) if is_ours else 0
        return freed + unlink(pointer)

    def discard_wrong(self, files: Sequence[File]) -> list[str]:
        """Takes away files and blobs of a wrong size; returns the files that were there, and wrong."""
        wrong = []
        for file in self.missing(files):
            is_link_to_nowhere = size_of(self.folder / file.path) is None
            blob_size = size_of(self.blobs / file.blob)
            if not is_link_to_nowhere:
                wrong.append(file.path)
            if not is_link_to_nowhere or blob_size not in (None, file.size):
                self.discard(file)
        return wrong

    def remove_stale(self) -> int:
        """Takes away what clients that were killed have left, never what one is writing. Returns the bytes freed."""
        freed = 0
        for name in _names(self.blobs):
            found = _STALE.fullmatch(name)
            if found is not None:
                with self.locked(found.group(1)) as is_ours:
                    freed += unlink(self.blobs / name) if is_ours else 0
        return freed

    def locked(self, blob: str) -> AbstractContextManager[bool]:
        """Holds the client's own lock of that blob; False when somebody downloads it, or that cannot be known."""
        return hub_blob.locked(self.cache / ".locks" / self.repo_folder.name / (blob + ".lock"))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
