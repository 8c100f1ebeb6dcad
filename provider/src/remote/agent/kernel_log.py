"""What the kernel said since a moment: which processes it killed for want of memory, and which GPUs failed. Where this account may read it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from typing import Optional

from agent import command

MOST_LINES = 40
LONGEST_LINE = 300
_SECONDS = 5.0
# Printed a little before or after what it tells of; the clock of the kernel's log is not quite the one of the start.
_MARGIN_SECONDS = 2.0
# The ring of the kernel first: it is quick. Where it is root's alone, members of adm or systemd-journal may read what the journal has of it.
# Both print seconds of the monotonic clock: "[ 2211.512345] ...".
_READERS = (
    ("dmesg",),
    (
        "journalctl",
        "--dmesg",
        "--boot",
        "--quiet",
        "--no-pager",
        "--lines=20000",
        "--output=short-monotonic",
    ),
)
# Source: Linux include/uapi/linux/nsfs.h, PID_NS_INIT_INO; include/linux/proc_ns.h before.
_FIRST_PID_NAMESPACE = 0xEFFFFFFC
_TIME = re.compile(r"\[ *(\d+\.\d+)\] ?")
# Source: Linux mm/oom_kill.c; before 5.2 without the line of the constraint.
_KILLED = re.compile(r"[Kk]illed process (\d+)")
_CONSTRAINT = re.compile(r"oom-kill:constraint=.*\btask_memcg=(?P<group>.*),task=.*,pid=(?P<pid>\d+),uid=")
# Source: NVIDIA, Xid Errors (r580): NVRM: Xid (PCI:0000:41:00): 79, pid=4711, name=python3, GPU has fallen off the bus.
XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<device>[0-9a-fA-F:.]+)\): (?P<xid>\d+).*")


def read(since_seconds: float) -> Optional[list[str]]:
    """Lines about kills and GPUs, since so many seconds after the boot (CLOCK_BOOTTIME). None: it may not be read."""
    # The kernel's log counts without the time that the machine slept.
    asleep = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    since = since_seconds - asleep - _MARGIN_SECONDS
    text = read_all()
    if text is None:
        return None
    return [line for line in text.splitlines() if _is_told(line) and _time_of(line) >= since]


def read_all() -> Optional[str]:
    """The kernel's log since the boot. None: it may not be read."""
    for words in _READERS:
        try:
            told = command.run(["/usr/bin/env", *words], {**os.environ, "LC_ALL": "C"}, _SECONDS)
        except OSError:
            continue
        # A reader without the right to read says nothing, and not always that it failed.
        if told.code == 0 and told.stdout.strip():
            return told.stdout
    return None


def has_our_numbers() -> bool:
    """Whether the kernel's log calls processes by the numbers that they have here: not in a container of its own."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino == _FIRST_PID_NAMESPACE
    except OSError:
        return False


def has_kill(lines: Iterable[str]) -> bool:
    return any(_KILLED.search(line) or _CONSTRAINT.search(line) for line in lines)


def devices(lines: Iterable[str]) -> set[str]:
    """Where the GPUs sit that faults are told of."""
    return {found["device"] for found in map(XID.search, lines) if found is not None}


def about(lines: list[str], pids: set[int], unit: Optional[str], strangers: set[str]) -> list[str]:
    """Those about these processes, a unit of systemd, and GPUs that are not `strangers`; each fault of a GPU once, at most MOST_LINES."""
    killed = (found for found in map(_CONSTRAINT.search, lines) if found is not None)
    of_unit = {int(found["pid"]) for found in killed if unit in found["group"].split("/")}
    return list(_chosen(lines, pids | of_unit, strangers))[:MOST_LINES]


def _chosen(lines: list[str], victims: set[int], strangers: set[str]) -> Iterator[str]:
    told: set[tuple[str, str]] = set()
    for line in lines:
        fault = XID.search(line)
        if fault is not None:
            # A GPU that dies can tell the same thousands of times.
            key = (fault["device"], fault["xid"])
            if key not in told and fault["device"] not in strangers:
                told.add(key)
                yield line[:LONGEST_LINE]
            continue
        killed = _KILLED.search(line)
        constraint = _CONSTRAINT.search(line)
        pid = killed[1] if killed is not None else constraint["pid"] if constraint is not None else "0"
        if int(pid) in victims:
            yield line[:LONGEST_LINE]


def _is_told(line: str) -> bool:
    return any(pattern.search(line) is not None for pattern in (_KILLED, _CONSTRAINT, XID))


def _time_of(line: str) -> float:
    """-1: not told (printk.time=0), and so of no known time."""
    found = _TIME.match(line)
    return -1.0 if found is None else float(found[1])
