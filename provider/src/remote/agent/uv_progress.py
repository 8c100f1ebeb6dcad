"""uv's own lines, turned into how far an installation is. Pure."""

from __future__ import annotations

import re
from typing import Any, Optional

# Source: uv 0.13.9, what it prints where it is no terminal. Small files are not announced.
_RESOLVED = re.compile(r"^Resolved (\d+) packages?\b")
_DOWNLOADING = re.compile(r"^Downloading (\S+) \(([\d.]+)\s*([KMGT]?)i?B\)")
_DOWNLOADED = re.compile(r"^\s+Downloaded (\S+)")
_BUILDING = re.compile(r"^\s*Building (\S+)")
_PREPARED = re.compile(r"^Prepared (\d+) packages?\b")
_INSTALLED = re.compile(r"^Installed (\d+) packages?\b")
_PYTHON = re.compile(r"^Using (\S+ [\d.]+)\S*")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NAMED = 3


class Progress:
    def __init__(self) -> None:
        self.packages: Optional[int] = None
        self.installed = 0
        self.building: Optional[str] = None
        self.doing = "looking which packages fit together"
        # Name -> size as announced, in bytes; largest known first.
        self.sizes: dict[str, int] = {}
        self.there: set[str] = set()

    def feed(self, line: str) -> None:
        if found := _RESOLVED.match(line):
            self.packages = int(found[1])
            self.doing = "downloading"
        elif found := _DOWNLOADING.match(line):
            # Once more after a break.
            self.sizes[found[1]] = int(float(found[2]) * _UNITS[found[3]])
        elif found := _DOWNLOADED.match(line):
            self.there.add(found[1])
        elif found := _BUILDING.match(line):
            self.building = found[1]
        elif found := _PREPARED.match(line):
            self.doing = "putting packages in place"
            self.there.update(self.sizes)
        elif found := _INSTALLED.match(line):
            self.installed = int(found[1])
            self.doing = "installed"
        elif found := _PYTHON.match(line):
            self.doing = f"making an environment with {found[1]}"

    def told(self, written_bytes: Optional[int] = None) -> dict[str, Any]:
        """Fields of the event "progress". `written_bytes`: what uv has written so far, the sign that it lives."""
        under_way = sorted(self.sizes.keys() - self.there, key=lambda name: -self.sizes[name])
        total = self.packages if self.packages and self.installed <= self.packages else None
        return {
            "phase": "install",
            "text": self._text(under_way, written_bytes),
            "done": self.installed if total is not None else None,
            "total": total,
            "bytesDone": sum(self.sizes[name] for name in self.there & self.sizes.keys())
            if self.sizes
            else None,
            "bytesTotal": sum(self.sizes.values()) if self.sizes else None,
        }

    def _text(self, under_way: list[str], written_bytes: Optional[int]) -> str:
        if under_way:
            named = [f"{name} ({_size(self.sizes[name])})" for name in under_way[:_NAMED]]
            more = [f"{len(under_way) - _NAMED} more"] if len(under_way) > _NAMED else []
            text = "downloading " + ", ".join(named + more)
        elif self.building is not None and self.doing == "downloading":
            text = f"building {self.building}"
        else:
            text = self.doing
        if written_bytes and self.installed == 0:
            text += f"; {_size(written_bytes)} written"
        return text


def _size(size_bytes: int) -> str:
    if size_bytes >= 1 << 30:
        return f"{size_bytes / (1 << 30):.1f} GiB"
    return f"{size_bytes / (1 << 20):.0f} MiB" if size_bytes >= 1 << 20 else f"{size_bytes / 1024:.0f} KiB"
