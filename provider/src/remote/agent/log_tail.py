"""The log of one start, read while it grows and handed to the client in batches."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, BinaryIO, Callable

from agent import log_marker
from agent.log_backlog import TAIL_BYTES, Backlog
from agent.log_place import LogPlace

LONGEST_LINE = 8192
BATCH_LINES = 200
BATCH_SECONDS = 0.5
# Of a log that grows faster than this the rest waits, so that a slow connection does not hold up the watch.
_BATCHES_AT_ONCE = 10
_READ_BYTES = 1 << 20
# A look takes so much at most; the next one goes on from there.
_LOOK_BYTES = 8 << 20
# Colours, window titles, and what else would act on the terminal that the line is shown on. A tab, and the \r
# between two states of a progress bar, are kept.
_UNPRINTED = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


class LogTail:
    """Lines end at \\n; progress bars put \\r around theirs, which is taken off. Longer lines are cut."""

    def __init__(self, path: Path, emit: Callable[[dict[str, Any]], None]) -> None:
        self._path = path
        self._emit = emit
        self._place = LogPlace()
        self._unfinished = b""
        self._backlog = Backlog()
        self._emitted_at = 0.0
        self.last_line = ""
        # Of all looks: grows also by what ends no line yet.
        self.heard_bytes = 0

    def poll(self) -> list[str]:
        """Lines that were finished since the last look. Emits batches when some are due."""
        lines = self._read(_LOOK_BYTES)
        if self._backlog and time.monotonic() - self._emitted_at >= BATCH_SECONDS:
            self._emit_batches(_BATCHES_AT_ONCE)
        return lines

    def catch_up(self) -> None:
        """Reads to the end, as far as lines are finished there; emits at most the last 8 MiB."""
        self._skip_middle()
        self._read(2 * TAIL_BYTES)
        while self._backlog:
            self._emit_batches(1)

    def drain(self) -> list[str]:
        """The rest, an unfinished last line too; emits everything but the middle of a rest that is too long."""
        self._skip_middle()
        lines = self._read(2 * TAIL_BYTES)
        if self._unfinished:
            last = [readable(self._unfinished)]
            self._unfinished = b""
            self._place.lines += 1
            lines += self._keep(last)
        while self._backlog:
            self._emit_batches(1)
        return lines

    def _read(self, most_bytes: int) -> list[str]:
        finished: list[str] = []
        try:
            with open(self._path, "rb") as file:
                self._find_again(file)
                file.seek(self._place.offset)
                end = self._place.offset + most_bytes
                while chunk := file.read(min(_READ_BYTES, end - self._place.offset)):
                    self._place.took(chunk)
                    self.heard_bytes += len(chunk)
                    parts = (self._unfinished + chunk).split(b"\n")
                    # A bar without a line end can go on for megabytes; what is cut later need not be kept.
                    self._unfinished = parts.pop()[: 4 * LONGEST_LINE]
                    finished += self._finish(parts)
        except FileNotFoundError:
            return []
        return finished

    def _finish(self, raw_lines: list[bytes]) -> list[str]:
        """Keeps them; where lines were taken out of the log (log_bound.py) the numbers go on behind them."""
        told: list[str] = []
        waiting: list[str] = []
        for raw in raw_lines:
            marker = log_marker.matches(raw)
            if marker is None:
                self._place.lines += 1
                waiting.append(readable(raw))
                continue
            told += self._keep(waiting)
            waiting = []
            _lines, missing_bytes, next_line = map(int, marker.groups())
            self._skip(self._place.passed(len(raw) + 1, missing_bytes, next_line))
        return told + self._keep(waiting)

    def _find_again(self, file: BinaryIO) -> None:
        missed = self._place.find_again(file)
        if missed is not None:
            self._unfinished = b""
            self._skip(missed)

    def _skip_middle(self) -> None:
        """Counts the lines that nobody will look at."""
        try:
            with open(self._path, "rb") as file:
                self._find_again(file)
                surplus = os.fstat(file.fileno()).st_size - self._place.offset - TAIL_BYTES
                if surplus > TAIL_BYTES:
                    self._skip(self._place.pass_over(file, surplus))
                    self._unfinished = b""
        except FileNotFoundError:
            return

    def _skip(self, count: int) -> None:
        if count > 0:
            self._backlog.skip(count)

    def _keep(self, lines: list[str]) -> list[str]:
        self._backlog.add(lines)
        self.last_line = next((line for line in reversed(lines) if line.strip()), self.last_line)
        return lines

    def _emit_batches(self, most: int) -> None:
        for _ in range(most):
            if not self._backlog:
                break
            first, lines = self._backlog.take(BATCH_LINES)
            self._emit({"event": "log", "first": first, "lines": lines})
        self._emitted_at = time.monotonic()


def readable(raw: bytes) -> str:
    """A line of a log as it may be shown."""
    # Cut twice: what a long line is made of costs time, and so do its escape sequences.
    text = raw[: 4 * LONGEST_LINE].decode("utf-8", "replace").strip("\r")
    return (text if text.isprintable() else _UNPRINTED.sub("", text))[:LONGEST_LINE]
