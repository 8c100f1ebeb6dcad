"""How processes of one server are brought to an end. Used by the supervisor and by the stop step alike.

`look` lists the members that live, `pause` waits (and reaps, where the caller is their parent), `note` writes down the
shared memory that these members hold, before they are killed with it.
"""

from __future__ import annotations

import signal
import time
from typing import Callable, Optional

from agent import processes, signals

Look = Callable[[], "list[processes.Process]"]
Pause = Callable[[float], None]
Note = Callable[["list[processes.Process]"], object]

# EngineCore and its workers took 5.4 s to remove their shared memory and leave. Source: vLLM 0.32.0, measured.
ORPHAN_GRACE_SECONDS = 8.0
# A process that is not gone by then sits in the kernel (state D, or a driver that does not let go).
KILL_SECONDS = 10.0
# A process stops within a system call or so, once it gets a processor; one that sits in the kernel makes nothing meanwhile.
HOLD_SECONDS = 2.0
# Python's own process beside those that share memory: once none of them lives it removes what they have made and not removed, also
# what nobody has mapped and so nobody else knows of. Source: CPython 3.9 to 3.14, Lib/multiprocessing/resource_tracker.py.
TRACKER_SECONDS = 2.0
_TRACKER = "from multiprocessing.resource_tracker import main"


def end_server(
    look: Look, pause: Pause, note: Note, leader: Optional[tuple[int, int]], drain_seconds: Optional[float]
) -> list[processes.Process]:
    """Ends everything `look` shows; returns what could not be ended.

    `drain_seconds`: how long a ready leader may take after one SIGTERM; None: it is not ready, and is killed
    with its whole session at once. While vLLM's engine starts it swallows a SIGTERM, and there is nothing to drain.
    """
    # Only a leader that is one of the members: a record that names somebody else's process hurts nobody.
    if leader is None or all((member.pid, member.start_ticks) != leader for member in look()):
        return end_orphans(look, pause, note)
    if drain_seconds is not None and _leaves_after_term(leader, drain_seconds, pause):
        return end_orphans(look, pause, note)
    return kill_all(look, pause, note)


def end_orphans(look: Look, pause: Pause, note: Note) -> list[processes.Process]:
    """For what outlived its leader: SIGTERM to the topmost (they clean up and end their children), then SIGKILL."""
    deadline = time.monotonic() + ORPHAN_GRACE_SECONDS
    asked: set[tuple[int, int]] = set()
    while True:
        alive = look()
        if not alive:
            return []
        if time.monotonic() >= deadline:
            return kill_all(look, pause, note)
        for top in topmost(alive):
            identity = (top.pid, top.start_ticks)
            if identity not in asked:
                asked.add(identity)
                signals.send(top.pid, top.start_ticks, signal.SIGTERM)
        pause(0.1)


def kill_all(look: Look, pause: Pause, note: Note) -> list[processes.Process]:
    """SIGKILL to every member, again until none is left (a fork can slip through one round). They are held while what they
    have of shared memory is noted: what one makes after that look would be nobody's. Trackers get a moment to end by themselves."""
    deadline = time.monotonic() + KILL_SECONDS
    trackers_end = None
    while True:
        alive = look()
        if not alive or time.monotonic() >= deadline:
            return alive
        victims = [member for member in alive if _TRACKER not in member.command]
        if not victims:
            trackers_end = trackers_end or time.monotonic() + TRACKER_SECONDS
            if time.monotonic() < trackers_end:
                pause(0.02)
                continue
            victims = alive
        _hold(victims, pause)
        note(victims)
        for member in victims:
            signals.send(member.pid, member.start_ticks, signal.SIGKILL)
        pause(0.05)


def _hold(members: list[processes.Process], pause: Pause) -> None:
    for member in members:
        signals.send(member.pid, member.start_ticks, signal.SIGSTOP)
    deadline = time.monotonic() + HOLD_SECONDS
    while any(map(_runs, members)) and time.monotonic() < deadline:
        pause(0.005)


def _runs(member: processes.Process) -> bool:
    now = processes.read_process(member.pid)
    return now is not None and now.start_ticks == member.start_ticks and now.state in ("R", "S")


def topmost(members: list[processes.Process]) -> list[processes.Process]:
    """Members whose parent is none of them."""
    pids = {member.pid for member in members}
    return [member for member in members if member.ppid not in pids]


def _leaves_after_term(leader: tuple[int, int], seconds: float, pause: Pause) -> bool:
    signals.send(*leader, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while processes.is_same(*leader):
        if time.monotonic() >= deadline:
            return False
        pause(0.1)
    return True
