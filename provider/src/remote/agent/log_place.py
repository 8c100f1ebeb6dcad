"""Where a reader stands in a log whose middle may be taken out under it (log_bound.py)."""

from __future__ import annotations

import os
from typing import BinaryIO, Optional

from agent import log_marker

# Of what was read last: where it does not stand any more, the log was rewritten.
_KNOWN_BYTES = 1024


class LogPlace:
    def __init__(self) -> None:
        self.offset = 0
        # Lines that have ended before the offset, in the log as it was written.
        self.lines = 0
        self._written = 0
        self._known = b""

    def find_again(self, file: BinaryIO) -> Optional[int]:
        """Sets the offset to where it is now. None: nothing was missed, else how many lines were, and a line begins."""
        size = os.fstat(file.fileno()).st_size
        if self._is_known(file, size):
            return None
        marker = log_marker.find(file, size)
        if marker is None:
            # Emptied by hand. What comes now is new, its numbers go on.
            self.offset = self._written = 0
            self._known = b""
            return 0
        beyond = self._written - (marker.start + marker.missing_bytes)
        missed = None
        if beyond < 0:
            self._written -= beyond
            missed = self._skip_to(marker.next_line)
        self.offset = marker.end + max(0, beyond)
        begin = max(0, self.offset - _KNOWN_BYTES)
        file.seek(begin)
        self._known = file.read(self.offset - begin)
        return missed

    def took(self, data: bytes) -> None:
        self.offset += len(data)
        self._written += len(data)
        self._known = (self._known + data)[-_KNOWN_BYTES:]

    def passed(self, size: int, missing_bytes: int, next_line: int) -> int:
        """A marker of that size was read; how many lines are missing."""
        self._written += missing_bytes - size
        return self._skip_to(next_line)

    def pass_over(self, file: BinaryIO, size: int) -> int:
        """So many bytes are not read; how many lines end in them."""
        stretch = log_marker.scan(file, self.offset, self.offset + size)
        before = self.lines
        if stretch.marker is not None:
            self.passed(stretch.marker.size, stretch.marker.missing_bytes, stretch.marker.next_line)
        self.lines += stretch.newlines_after
        file.seek(max(0, self.offset + size - _KNOWN_BYTES))
        self._known = file.read(min(_KNOWN_BYTES, self.offset + size))
        self.offset += size
        self._written += size
        return self.lines - before

    def _is_known(self, file: BinaryIO, size: int) -> bool:
        if size < self.offset:
            return False
        file.seek(self.offset - len(self._known))
        return file.read(len(self._known)) == self._known

    def _skip_to(self, line: int) -> int:
        missed = max(0, line - 1 - self.lines)
        self.lines += missed
        return missed
