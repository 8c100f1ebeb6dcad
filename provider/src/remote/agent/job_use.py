"""Which jobs a server wants, so that nobody's work is ended with somebody else's server."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from pathlib import Path

from agent import forgetting, paths
from agent.failure import AgentFailure
from agent.noted import Noted

_NOTED = Noted("jobs.json")
_KEY = re.compile(r"[0-9a-z][0-9a-z.-]{0,80}")


def folder(key: str) -> Path:
    """<stateRoot>/jobs/<key>. Refuses a key that could lead out of it."""
    if _KEY.fullmatch(key) is None:
        raise AgentFailure(
            "AGENT_CRASHED", f"Cannot use job key {key!r}: need lower-case letters, digits, . and -"
        )
    return paths.state_root() / "jobs" / key


def note(server_id: str, key: str) -> None:
    """Writes down that the server wants the job, before it is started."""
    _NOTED.add(server_id, key)


def done(server_id: str, key: str) -> None:
    """The server has the job's result; what is kept of the job goes when nobody else waits for it."""
    _NOTED.write(server_id, (other for other in wanted_by(server_id) if other != key))
    if not is_wanted_by_others(server_id, key):
        remove(key)


def drop_all(server_id: str) -> None:
    """Ends the jobs that only this server wants, and removes what is kept of them."""
    from agent import job  # job.py stands on this module

    for key in wanted_by(server_id):
        if not is_wanted_by_others(server_id, key):
            job.cancel(key)
            remove(key)
    _NOTED.remove(server_id)


def hand_over(server_id: str, successor: str) -> None:
    """What a server of an attempt that was cut has begun goes on for the one that takes its place."""
    for key in wanted_by(server_id):
        note(successor, key)
    _NOTED.remove(server_id)


def is_wanted_by_others(server_id: str, key: str) -> bool:
    return any(key in wanted_by(other) for other in forgetting.users(server_id))


def wanted_by(server_id: str) -> list[str]:
    return _NOTED.of(server_id)


def remove(key: str) -> None:
    """What is kept of a job; nothing while it runs."""
    place = folder(key)
    try:
        descriptor = os.open(place / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(place, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)
