"""Lines of a log that wait to be told: all of its beginning, then the newest; what lies between is only counted.

A cause stands near the beginning or near the end, and neither the host's memory nor the connection may be filled
by a server that prints without end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

HEAD_BYTES = 8 << 20
TAIL_BYTES = 8 << 20


class Backlog:
    def __init__(self) -> None:
        self._head: deque[str] = deque()
        self._head_room = HEAD_BYTES
        self._skipped = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._told = 0

    def __bool__(self) -> bool:
        return bool(self._head or self._tail)

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            size = len(line) + 1
            if self._head_room >= size:
                self._head.append(line)
                self._head_room -= size
                continue
            self._head_room = 0
            self._tail.append(line)
            self._tail_size += size
            while self._tail_size > TAIL_BYTES:
                self._tail_size -= len(self._tail.popleft()) + 1
                self._skipped += 1

    def skip(self, count: int) -> None:
        """For lines that were not even read: they are newer than all that was added."""
        self._head_room = 0
        self._skipped += len(self._tail) + count
        self._tail.clear()
        self._tail_size = 0

    def take(self, count: int) -> tuple[int, list[str]]:
        """The next lines, at most `count`, and the number of the first one, counted from 1 as in the file."""
        if not self._head:
            self._told += self._skipped
            self._skipped = 0
        queue = self._head or self._tail
        lines = [queue.popleft() for _ in range(min(count, len(queue)))]
        if queue is self._tail:
            self._tail_size -= sum(len(line) + 1 for line in lines)
        first = self._told + 1
        self._told += len(lines)
        return first, lines
