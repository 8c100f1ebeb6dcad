"""One agent at a time: flock, with the holder written beside it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Callable, Optional, TypeVar

from agent import events, processes, records
from agent.failure import AgentFailure

POLL_SECONDS = 0.2
T = TypeVar("T")


@contextmanager
def held(path: os.PathLike[str], client: str, wait_seconds: float) -> Iterator[None]:
    """Holds the lock for the block; it falls with the process whatever happens.

    Tells "waiting" when somebody else holds it; raises HOST_LOCKED naming the holder after `wait_seconds`.
    The holder is written to <path>.json for whoever finds the lock taken.
    """
    place = Path(path)
    record = place.with_name(place.name + ".json")
    descriptor = _take(place, record, wait_seconds)
    try:
        me = processes.read_process(os.getpid())
        since = utc_now()
        ticks = None if me is None else me.start_ticks
        # A stop on a full disk must have its turn too; then nobody is named.
        with records.best_effort():
            records.write_json(
                record, {"client": client, "since": since, "pid": os.getpid(), "startTicks": ticks}
            )
        try:
            yield
        finally:
            # Not when the block removed the folder, and never another holder's: we still have the lock.
            try:
                os.unlink(record)
            except OSError:
                pass
    finally:
        os.close(descriptor)


def utc_now() -> str:
    """Like "2026-12-01T12:03:11Z"."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def forget_dead_holder(path: os.PathLike[str]) -> None:
    """Takes away what a holder that was killed wrote beside the lock; nothing while somebody holds it."""
    place = Path(path)
    record = place.with_name(place.name + ".json")
    descriptor = _try(place) if record.exists() else None
    if descriptor is None:
        return
    try:
        record.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _take(place: Path, record: Path, wait_seconds: float) -> int:
    return wait_for(
        lambda: _try(place),
        lambda: describe_holder(record),
        Words(waiting="lock", refusal=f"Cannot lock {place}:"),
        time.monotonic() + wait_seconds,
        wait_seconds,
    )


@dataclass(frozen=True)
class Words:
    """What stands before the holder's name while somebody waits, and when that was in vain."""

    waiting: str
    refusal: str


def wait_for(
    attempt: Callable[[], Optional[T]],
    holder_of: Callable[[], str],
    words: Words,
    end: float,
    wait_seconds: float,
) -> T:
    """What `attempt` gets once it gets it. Tells "waiting" with each new holder; raises HOST_LOCKED naming the holder
    at `end` (monotonic clock), which is `wait_seconds` after the wait began."""
    told: Optional[str] = None
    while True:
        taken = attempt()
        if taken is not None:
            return taken
        holder = holder_of()
        if time.monotonic() >= end:
            raise AgentFailure(
                "HOST_LOCKED",
                f"{words.refusal} {holder}, waited {wait_seconds:.0f} s",
                change="wait for it to finish, then try again",
                retryable=True,
            )
        if holder != told:
            events.emit({"event": "waiting", "reason": f"{words.waiting} {holder}"})
            told = holder
        time.sleep(POLL_SECONDS)


def _try(place: Path) -> Optional[int]:
    with records.disk_failures("lock", place):
        records.make_folder(place.parent)
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            return None  # the folder was removed this instant; the next try makes it again
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before us may have removed the file: a lock on it would exclude nobody.
            if os.path.samestat(os.fstat(descriptor), os.stat(place)):
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None


def describe_holder(record: Path) -> str:
    """Like: "held by ann@laptop (shop/prod) since 12:03:11Z", with the day when that is not today."""
    holder = records.read_json(record)
    if not isinstance(holder, dict) or not processes.is_same(
        holder.get("pid") or 0, holder.get("startTicks") or 0
    ):
        return "held by a process that did not say who it is"
    return f"held by {holder.get('client')} since {short_time(str(holder.get('since')))}"


def short_time(since: str) -> str:
    """Without the day when that is today (UTC)."""
    today = datetime.now(timezone.utc).strftime("%Y-%m-%dT")
    return since[len(today) :] if since.startswith(today) else since
