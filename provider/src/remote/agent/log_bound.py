"""Keeps the log of a running server below a bound: its beginning, a line that says what is missing, its newest lines.

Causes of a failed start stand near the beginning, causes of a death at the end. The file is rewritten in place, for
vLLM has it open for appending: the newest lines move forward over the middle and the end is cut off, which needs no
room on the disk, little memory, and loses at most what is printed within the instant of the cut. What is left is half
of the bound, so that a log is not rewritten at each look. log-bound.sh does the same for systemd's units.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from agent import log_marker

# A start prints less, whatever the bound; the rest is for the newest lines.
_MOST_HEAD_BYTES = 8 << 20
# Below this the marker would be most of the log.
_LEAST_BOUND_BYTES = 4096
_CHUNK_BYTES = 1 << 20


def bound(path: Path, max_bytes: int) -> int:
    """Bytes that were taken out; 0: the log was not above the bound, or is not there. Raises OSError."""
    limit = max(max_bytes, _LEAST_BOUND_BYTES)
    try:
        if os.stat(path, follow_symlinks=False).st_size <= limit:
            return 0
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return 0
        return _take_out(file, found.st_size, limit)


def _take_out(file: BinaryIO, size: int, limit: int) -> int:
    head = min(limit // 4, _MOST_HEAD_BYTES)
    tail = limit // 2 - head
    beginning = log_marker.scan(file, 0, head)
    old = beginning.marker or log_marker.scan(file, head - _overlap(head), size - tail).marker
    at = _line_end_before(file, head) if beginning.marker is None else beginning.marker.start
    source = _line_begin_after(file, size - tail - 1, tail)
    if old is not None:
        source = max(source, old.end)
    cut_line = b"" if at > 0 and _byte_before(file, at) == b"\n" else b"\n"
    start = at + len(cut_line)
    counted = log_marker.scan(file, at if old is None else old.end, source).newlines
    if old is None:
        told = (counted, source - start, log_marker.scan(file, 0, at).newlines + counted + 1)
    else:
        between = log_marker.scan(file, at, old.start).newlines
        missing = source - old.size + old.missing_bytes - start
        told = (old.lines + between + counted, missing, old.next_line + counted)
    mark = cut_line + log_marker.text(*told)
    _write(file, at, mark)
    end = _move(file, source, at + len(mark))
    file.truncate(end)
    return source - at - len(mark)


def _overlap(position: int) -> int:
    return min(position, 256)


def _line_end_before(file: BinaryIO, limit: int) -> int:
    """Behind the last line that ends before the limit; the limit itself where no line does."""
    position = limit
    while position > 0:
        begin = max(0, position - _CHUNK_BYTES)
        file.seek(begin)
        found = file.read(position - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        position = begin
    return limit


def _line_begin_after(file: BinaryIO, position: int, size: int) -> int:
    """Behind the line that the position stands in; the position itself where that is most of what is kept."""
    file.seek(position)
    found = file.read(min(size // 2, _CHUNK_BYTES)).find(b"\n")
    return position + found + 1


def _byte_before(file: BinaryIO, position: int) -> bytes:
    file.seek(position - 1)
    return file.read(1)


def _move(file: BinaryIO, source: int, target: int) -> int:
    """Everything from `source` on to `target`, what is printed meanwhile too; the place behind it."""
    while True:
        file.seek(source)
        chunk = file.read(_CHUNK_BYTES)
        if not chunk:
            return target
        _write(file, target, chunk)
        source += len(chunk)
        target += len(chunk)


def _write(file: BinaryIO, position: int, data: bytes) -> None:
    file.seek(position)
    while data:
        data = data[file.write(data) :]
