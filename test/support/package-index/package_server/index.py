"""The index itself: simple pages as HTML or JSON (PEP 503, 658, 691), wheels, and what a test wants to go wrong."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Optional

from .wheel import Wheel


@dataclass
class Faults:
    """What goes wrong; can be changed while the index serves."""

    # Of a wheel's download; 0: as fast as it goes.
    bytes_per_second: int = 0
    # The connection is cut after that many bytes of a wheel, that many times.
    cut_after_bytes: Optional[int] = None
    cuts_left: int = 0
    # File names whose page tells a hash that the file has not.
    wrong_hash: set[str] = field(default_factory=set)
    # Every request is answered so.
    status: Optional[int] = None


class Index:
    """Packages by normalized name. Downloads are counted by path in `requests`."""

    def __init__(self, wheels: Iterable[Wheel] = (), login: Optional[tuple[str, str]] = None) -> None:
        self.login = login
        self.faults = Faults()
        self.requests: Counter[str] = Counter()
        self.lock = threading.Lock()
        # Name -> file name -> (content, METADATA).
        self.files: dict[str, dict[str, tuple[bytes, bytes]]] = {}
        # Of a content that may be large, by its file name.
        self.digests: dict[str, str] = {}
        for wheel in wheels:
            self.add(wheel)

    def add(self, wheel: Wheel) -> None:
        self.add_file(wheel.name, wheel.file_name, wheel.content(), wheel.metadata())

    def add_file(self, name: str, file_name: str, content: bytes, metadata: bytes = b"") -> None:
        """A wheel that exists, the real one of uv for example."""
        self.files.setdefault(normalized(name), {})[file_name] = (content, metadata)
        self.digests[file_name] = hashlib.sha256(content).hexdigest()

    def count(self, path: str) -> None:
        with self.lock:
            self.requests[path] += 1

    def downloads(self, name: str) -> int:
        """How often a wheel of the package was asked for."""
        with self.lock:
            return sum(
                count
                for path, count in self.requests.items()
                if path.startswith("/files/")
                and path.endswith(".whl")
                and path.split("/")[2] == normalized(name)
            )

    def entries(self, name: str) -> Optional[list[dict[str, object]]]:
        """Of one package, as PEP 691 has them; None: there is no such package."""
        found = self.files.get(name)
        if found is None:
            return None
        entries: list[dict[str, object]] = []
        for file_name, (content, metadata) in found.items():
            told = "0" * 64 if file_name in self.faults.wrong_hash else self.digests[file_name]
            core = {"sha256": hashlib.sha256(metadata).hexdigest()} if metadata else False
            entries.append(
                {
                    "filename": file_name,
                    "url": f"../../files/{name}/{file_name}",
                    "hashes": {"sha256": told},
                    "core-metadata": core,
                    "size": len(content),
                    "yanked": False,
                }
            )
        return entries


def normalized(name: str) -> str:
    """Source: PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()
