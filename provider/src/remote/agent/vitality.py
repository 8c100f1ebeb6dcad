"""Signs of life of a start: what tells one that is slow from one that hangs.

Progress is a new line in the log, data read or written, new pages of memory. Processor time alone is only half a sign: what
waits for another process or a GPU may do so in a loop (NCCL does), and looks busy for ever. Use of the GPU is no sign at
all: a kernel that waits for another GPU counts as full use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional

from agent import process_place, processes, work_done
from agent.work_done import Done

# How many times longer a start may be busy without progress than it may be still.
SPIN_FACTOR = 3
# Less than this is what a process does that only looks around now and then: of each process, a second.
_LEAST_CORES = 0.05
_LEAST_BYTES = 64 * 1024
_LEAST_FAULTS = 100
_LEAST_FAULTS_FROM_DISK = 10

_LONGEST_WINDOW_SECONDS = 5.0
_SHORTEST_WINDOW_SECONDS = 0.4
# Of two looks so far apart nobody looked in between: the machine, or this process, was stopped. It counts for nothing.
_LONGEST_GAP_SECONDS = 60.0
_TOLD_EVERY_SECONDS = 15.0
_MOST_PROCESSES = 24


@dataclass(frozen=True)
class _Window:
    """What the processes did in the time between two looks."""

    cores: float
    read_rate: Optional[float]
    write_rate: Optional[float]
    is_progress: bool
    is_busy: bool
    # Cores by pid.
    by_pid: dict[int, float]


_NOTHING = _Window(0.0, None, None, is_progress=False, is_busy=False, by_pid={})


class Vitality:
    """Fed with lines, looks at processes by itself when that is due.

    `stall_seconds`: without a sign of life a start counts as hung after so long, and after SPIN_FACTOR times as long with
    processor time as the only one; 0: never. `idle`: a line that matches one of them says that somebody waits.
    """

    def __init__(
        self,
        stall_seconds: float,
        idle: Iterable[str],
        emit: Callable[[dict[str, Any]], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stall = stall_seconds
        self._idle = [re.compile(pattern, re.MULTILINE) for pattern in idle]
        self._emit = emit
        self._now = now
        self._window_seconds = (
            min(_LONGEST_WINDOW_SECONDS, max(_SHORTEST_WINDOW_SECONDS, stall_seconds / 4))
            if stall_seconds > 0
            else _LONGEST_WINDOW_SECONDS
        )
        began = now()
        self._line_at = self._progress_at = self._busy_at = self._looked_at = began
        self._told_at = began
        self._seen: Optional[dict[tuple[int, int], Done]] = None
        self._window = _NOTHING

    def hear(self, lines: Sequence[str], has_grown: bool) -> None:
        """New lines of the log; `has_grown`: it got longer, if only by a progress bar that ends no line."""
        if any(not self._is_idle(line) for line in lines) or (has_grown and not lines):
            self._line_at = self._progress_at = self._busy_at = self._now()

    def look(self, members: Callable[[], Sequence[processes.Process]]) -> Optional[dict[str, Any]]:
        """The outcome "hung" of WaitResult but for its lines, once that is certain."""
        now = self._now()
        if now - self._looked_at < self._window_seconds and self._seen is not None:
            return None
        found = members()
        self._measure(found, now)
        if now - max(self._line_at, self._told_at) >= _TOLD_EVERY_SECONDS:
            self._told_at = now
            self._emit({"event": "quiet", "activity": self.activity()})
        return self._hung(found, now)

    def activity(self) -> dict[str, Any]:
        """Activity of remote/protocol.ts, of the newest look."""
        now, window = self._now(), self._window
        return {
            "quietSeconds": round(now - self._line_at, 1),
            "stillSeconds": 0.0 if window.is_progress or window.is_busy else round(now - self._busy_at, 1),
            "spinningSeconds": round(now - self._progress_at, 1) if self._is_spinning() else 0.0,
            "cpuCores": round(window.cores, 2),
            "readBytesPerSecond": None if window.read_rate is None else round(window.read_rate),
            "writeBytesPerSecond": None if window.write_rate is None else round(window.write_rate),
        }

    def _is_spinning(self) -> bool:
        return self._window.is_busy and not self._window.is_progress

    def _hung(self, found: Sequence[processes.Process], now: float) -> Optional[dict[str, Any]]:
        if self._stall <= 0:
            return None
        is_still = now - self._busy_at >= self._stall
        if not is_still and now - self._progress_at < SPIN_FACTOR * self._stall:
            return None
        return {
            "outcome": "hung",
            "silentSeconds": round(now - self._progress_at, 1),
            "isSpinning": not is_still,
            "processes": [
                process_place.describe(process, self._window.by_pid.get(process.pid, 0.0))
                for process in found[:_MOST_PROCESSES]
            ],
        }

    def _measure(self, found: Sequence[processes.Process], now: float) -> None:
        seen = {}
        for process in found:
            done = work_done.read(process.pid)
            if done is not None:
                seen[process.pid, process.start_ticks] = done
        before, seconds = self._seen, now - self._looked_at
        self._seen, self._looked_at = seen, now
        if before is None or seconds <= 0:
            return
        if seconds > _LONGEST_GAP_SECONDS:
            self._line_at, self._progress_at, self._busy_at = (
                at + seconds for at in (self._line_at, self._progress_at, self._busy_at)
            )
            return
        self._window = _window(before, seen, seconds)
        if self._window.is_progress:
            self._progress_at = self._busy_at = now
        elif self._window.is_busy:
            self._busy_at = now

    def _is_idle(self, line: str) -> bool:
        return not line.strip() or any(pattern.search(line) for pattern in self._idle)


def _window(
    before: dict[tuple[int, int], Done], seen: dict[tuple[int, int], Done], seconds: float
) -> _Window:
    added = {name: done.since(before[name]) for name, done in seen.items() if name in before}
    io = [done.io for done in added.values() if done.io is not None]
    by_pid = {pid: done.cpu_seconds / seconds for (pid, _), done in added.items()}
    return _Window(
        cores=sum(by_pid.values()),
        read_rate=sum(one.bytes_read() for one in io) / seconds if io else None,
        write_rate=sum(one.bytes_written() for one in io) / seconds if io else None,
        is_progress=any(_is_progress(done, seconds) for done in added.values()),
        # One that came or went: somebody starts processes.
        is_busy=seen.keys() != before.keys() or any(cores >= _LEAST_CORES for cores in by_pid.values()),
        by_pid=by_pid,
    )


def _is_progress(done: Done, seconds: float) -> bool:
    size = 0 if done.io is None else max(done.io.bytes_read(), done.io.bytes_written())
    return (
        size >= _LEAST_BYTES * seconds
        or done.faults >= _LEAST_FAULTS * seconds
        or done.faults_from_disk >= _LEAST_FAULTS_FROM_DISK * seconds
    )
