"""The log of one start, read while it grows and handed to the client in batches."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Callable

LONGEST_LINE = 8192
BATCH_LINES = 200
BATCH_SECONDS = 0.5
_READ_BYTES = 1 << 20


class LogTail:
    """Lines end at \\n; progress bars put \\r around theirs, which is taken off. Longer lines are cut."""

    def __init__(self, path: Path, emit: Callable[[dict[str, Any]], None]) -> None:
        self._path = path
        self._emit = emit
        self._offset = 0
        self._unfinished = b""
        self._pending: list[str] = []
        self._emitted = 0
        self._emitted_at = 0.0
        self.last_line = ""

    def poll(self) -> list[str]:
        """Lines that were finished since the last look. Emits one batch when one is due."""
        lines = self._read()
        self._pending += lines
        if self._pending and time.monotonic() - self._emitted_at >= BATCH_SECONDS:
            self._emit_batch()
        return lines

    def drain(self) -> list[str]:
        """The rest, an unfinished last line too; emits everything."""
        lines = self._read()
        if self._unfinished:
            lines.append(_line(self._unfinished))
            self._unfinished = b""
            self._note_last(lines)
        self._pending += lines
        while self._pending:
            self._emit_batch()
        return lines

    def _read(self) -> list[str]:
        finished: list[str] = []
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                while chunk := file.read(_READ_BYTES):
                    self._offset += len(chunk)
                    parts = (self._unfinished + chunk).split(b"\n")
                    # A bar without a line end can go on for megabytes; what is cut later need not be kept.
                    self._unfinished = parts.pop()[: 4 * LONGEST_LINE]
                    finished += [_line(part) for part in parts]
        except FileNotFoundError:
            return []
        self._note_last(finished)
        return finished

    def _note_last(self, lines: list[str]) -> None:
        self.last_line = next((line for line in reversed(lines) if line.strip()), self.last_line)

    def _emit_batch(self) -> None:
        batch, self._pending = self._pending[:BATCH_LINES], self._pending[BATCH_LINES:]
        self._emit({"event": "log", "first": self._emitted + 1, "lines": batch})
        self._emitted += len(batch)
        self._emitted_at = time.monotonic()


def _line(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip("\r")[:LONGEST_LINE]
