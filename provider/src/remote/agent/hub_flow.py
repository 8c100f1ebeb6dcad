"""How far a download is, seen from the disk: the client's own numbers end with the client."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from agent.hub_blob import size_of
from agent.hub_cache import File, Snapshot

# Long enough that one slow shard does not make the time left jump.
SMOOTH_SECONDS = 15.0
BLOCK_BYTES = 512


@dataclass(frozen=True)
class Seen:
    files: int
    bytes: int
    # Differs from one look to the next when anything was written, also where a file has its full size from the start.
    trace: tuple[tuple[str, int, int, int], ...]


def look(snapshot: Snapshot, files: Sequence[File]) -> Seen:
    parts, trace = _in_flight(snapshot)
    done = partial = count = 0
    for file in files:
        if snapshot.is_there(file):
            count += 1
            done += file.size
        elif size_of(snapshot.blobs / file.blob) == file.size:
            done += file.size
        else:
            size, blocks = parts.get(file.blob, (0, 0))
            # Xet writes in any order into a file that has its full size.
            partial += min(file.size, size if size < file.size else blocks)
    return Seen(count, done + partial, (*trace, ("", count, done, 0)))


def _in_flight(
    snapshot: Snapshot,
) -> tuple[dict[str, tuple[int, int]], list[tuple[str, int, int, int]]]:
    """Bytes and bytes in blocks of the largest part of each blob."""
    parts: dict[str, tuple[int, int]] = {}
    trace: list[tuple[str, int, int, int]] = []
    try:
        entries = [entry for entry in os.scandir(snapshot.blobs) if entry.name.endswith(".incomplete")]
    except OSError:
        return {}, []
    for entry in entries:
        try:
            found = entry.stat()
        except OSError:
            continue  # complete this instant
        size, blocks = found.st_size, found.st_blocks * BLOCK_BYTES
        blob = entry.name.split(".")[0]
        parts[blob] = max(parts.get(blob, (0, 0)), (size, blocks))
        # A client that begins makes an empty one: no byte has come by that.
        if size > 0:
            trace.append((entry.name, size, blocks, found.st_mtime_ns))
    return parts, sorted(trace)


class Silence:
    """How long no byte came, over the clients that give up meanwhile."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: Optional[Seen] = None
        self.begin()

    def begin(self) -> None:
        self._since = time.monotonic()

    def look_first(self, seen: Seen) -> None:
        """Before a client begins: what the one before has left half done is gone, and that is no byte."""
        if self._seen is not None and seen.files > self._seen.files:
            self.begin()
        self._seen = seen

    def look(self, seen: Seen) -> None:
        if self._seen is None or seen.trace != self._seen.trace:
            self.begin()
        self._seen = seen

    def is_over(self) -> bool:
        return time.monotonic() - self._since >= self._seconds


class Rate:
    """Bytes a second over the last quarter of a minute or so."""

    def __init__(self) -> None:
        self.value: Optional[float] = None
        self.before: Optional[tuple[float, int]] = None

    def add(self, total: int) -> Optional[float]:
        now = time.monotonic()
        is_waiting = self.value is None and self.before is not None and total == self.before[1]
        if self.before is None or total < self.before[1] or is_waiting:
            # A part that was begun anew is no negative rate, and a client that has yet to begin is not a slow one.
            self.before = (now, total)
            return self.value
        seconds = now - self.before[0]
        if seconds <= 0:
            return self.value
        current = (total - self.before[1]) / seconds
        share = min(1.0, seconds / SMOOTH_SECONDS)
        self.value = current if self.value is None else self.value + share * (current - self.value)
        self.before = (now, total)
        return self.value


def progress(text: str, seen: Seen, files: Sequence[File], rate: Optional[float]) -> dict[str, Any]:
    """The fields of the event "progress"."""
    total = sum(file.size for file in files)
    return {
        "phase": "download",
        "text": text,
        "done": seen.files,
        "total": len(files),
        "bytesDone": seen.bytes,
        "bytesTotal": total,
        "bytesPerSecond": None if rate is None else round(rate),
        "secondsLeft": round((total - seen.bytes) / rate) if rate else None,
    }
