"""The line that stands in a log where its middle was taken out, and how it is found again.

A log is then its beginning, this line, its newest lines. The line says by how much places and line numbers of what
follows are behind those of the log as it was written, so that whoever was reading goes on where he was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Optional

# The same words stand in log-bound.sh.
_BEGIN = b"[pulumi-vllm: "
_LINE = re.compile(
    rb"^\[pulumi-vllm: (\d{1,18}) lines \((\d{1,18}) bytes\) were taken out here, the next is line (\d{1,18}); "
    rb"service\.logs\.maxBytes was reached\]\r?\n",
    re.MULTILINE,
)
_LONGEST = 256
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Marker:
    # Where it begins in the file, and how long it is with its line end.
    start: int
    size: int
    lines: int
    # Place of what follows in the log as it was written, less `start`.
    missing_bytes: int
    next_line: int

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True)
class Stretch:
    """What a part of a log holds. `marker`: the last one that begins in it."""

    newlines: int
    # Of those, after the marker; all where there is none.
    newlines_after: int
    marker: Optional[Marker]


def text(lines: int, missing_bytes: int, next_line: int) -> bytes:
    return (
        b"[pulumi-vllm: %d lines (%d bytes) were taken out here, the next is line %d; "
        b"service.logs.maxBytes was reached]\n" % (lines, missing_bytes, next_line)
    )


def matches(raw_line: bytes) -> Optional[re.Match[bytes]]:
    """A line without its end: (lines, bytes, next line) as groups."""
    return _LINE.fullmatch(raw_line + b"\n") if raw_line.startswith(_BEGIN) else None


def scan(file: BinaryIO, start: int, end: int) -> Stretch:
    """Reads [start, end) of the file in bounded memory. `start` is taken for the beginning of a line."""
    newlines = after = 0
    marker: Optional[Marker] = None
    for position, known, chunk in _chunks(file, start, end):
        for found in _LINE.finditer(chunk):
            # One that lies whole in what was carried over was seen before.
            if found.end() > known:
                size = found.end() - found.start()
                marker = Marker(position + found.start(), size, *map(int, found.groups()))
                after = -chunk.count(b"\n", known, found.end())
        count = chunk.count(b"\n", known)
        newlines += count
        after += count
    return Stretch(newlines, after, marker)


def find(file: BinaryIO, size: int) -> Optional[Marker]:
    """The marker of a whole log, None when nothing was taken out."""
    return scan(file, 0, size).marker


def _chunks(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """(place, how much of it the chunk before had already, bytes): a marker is whole in one of them."""
    file.seek(start)
    carried = b""
    position = start
    while chunk := file.read(min(_READ_BYTES, end - position)):
        yield position - len(carried), len(carried), carried + chunk
        position += len(chunk)
        carried = (carried + chunk)[-_LONGEST:]
