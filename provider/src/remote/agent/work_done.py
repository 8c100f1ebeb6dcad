"""What a process has done so far, by the kernel's counters: processor time, bytes read and written, pages it got."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Optional

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# Bytes of calls that move fewer than this each are signals between threads (an eventfd takes 8), not data.
_LEAST_BYTES_A_CALL = 1024


@dataclass(frozen=True)
class Done:
    """Counters, or what was added to them in a time. Source: proc(5), /proc/pid/stat and /proc/pid/io."""

    cpu_seconds: float
    # Pages that it got at all, and those of them that had to be read from a disk first: a mapped file is read like that.
    faults: int
    faults_from_disk: int
    # None: the kernel does not tell (another user's process).
    io: Optional[Io]

    def since(self, before: Done) -> Done:
        return Done(
            max(0.0, self.cpu_seconds - before.cpu_seconds),
            max(0, self.faults - before.faults),
            max(0, self.faults_from_disk - before.faults_from_disk),
            None if self.io is None or before.io is None else self.io.since(before.io),
        )


@dataclass(frozen=True)
class Io:
    # Asked for by calls, from the page cache too; and what of it went to a disk, also where a mapped file was touched.
    asked_read: int
    asked_written: int
    read_calls: int
    write_calls: int
    disk_read: int
    disk_written: int

    def since(self, before: Io) -> Io:
        mine, theirs = vars(self), vars(before)
        return Io(**{name: max(0, mine[name] - theirs[name]) for name in mine})

    def bytes_read(self) -> int:
        return max(self.disk_read, _data(self.asked_read, self.read_calls))

    def bytes_written(self) -> int:
        return max(self.disk_written, _data(self.asked_written, self.write_calls))


def read(pid: int) -> Optional[Done]:
    """None: there is no such process (any more)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # From the state on: the name before it may hold spaces.
            fields = file.read().rpartition(b") ")[2].split()
    except OSError:
        return None
    return Done(
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND,
        faults=int(fields[7]),
        faults_from_disk=int(fields[9]),
        io=_io(pid),
    )


def _io(pid: int) -> Optional[Io]:
    try:
        with open(f"/proc/{pid}/io", "rb") as file:
            rows = dict(line.split(b": ", 1) for line in file.read().splitlines())
        names = (b"rchar", b"wchar", b"syscr", b"syscw", b"read_bytes", b"write_bytes")
        return Io(*(int(rows[name]) for name in names))
    except (OSError, KeyError, ValueError):
        return None


def _data(size: int, calls: int) -> int:
    return size if size >= calls * _LEAST_BYTES_A_CALL else 0
