"""stop-intent: from here on the supervisor must not restart the server. Keeps what a stop that is cut off saw."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent import paths, process_age, processes, records, run_record, shm, signals
from agent.failure import AgentFailure


def path(server_id: str) -> Path:
    return paths.server_folder(server_id) / "stop-intent"


def is_declared(server_id: str) -> bool:
    """False where it cannot be looked at: a home on the network that is away for a while is no wish to stop."""
    return os.path.exists(path(server_id))


def declare(server_id: str) -> None:
    """On a full disk too: a server that is in the way must be stoppable."""
    try:
        _write(server_id, shm_inodes(server_id))
    except AgentFailure as failure:
        if failure.code != "DISK_FULL":
            raise
        _declare_without_room(server_id)


def withdraw(server_id: str) -> None:
    path(server_id).unlink(missing_ok=True)


def note_shm(server_id: str, members: Sequence[processes.Process]) -> set[str]:
    """What these are about to leave behind (the supervisor's last look can be a few seconds old), and what
    was noted before."""
    noted = shm_inodes(server_id)
    if not members:
        return set(noted)
    since = time.time() - max(process_age.age_seconds(member.start_ticks) for member in members)
    seen = shm.names_made_by([member.pid for member in members], since)
    if seen:
        with records.best_effort():
            _write(server_id, {**shm.inodes(seen), **noted})
    return seen.union(noted)


def shm_inodes(server_id: str) -> dict[str, int]:
    """Names noted by this stop and earlier ones of this boot, and which files they meant; those of another boot are
    gone with its memory."""
    noted = _noted(server_id).get("shm")
    return {str(name): int(inode) for name, inode in noted.items()} if isinstance(noted, dict) else {}


def control_group(server_id: str) -> str:
    """The unit's, noted by the first stop of this boot: systemd does not tell it any more once it has given the unit up,
    though processes that it was not able to end may still be in there. "": none."""
    return str(_noted(server_id).get("cgroup") or "")


def _noted(server_id: str) -> dict[str, Any]:
    found = records.read_json(path(server_id))
    return found if isinstance(found, dict) and found.get("bootId") == processes.boot_id() else {}


def _declare_without_room(server_id: str) -> None:
    """A name alone needs no room. Where not even that can be made, a signal tells the supervisor the same."""
    try:
        os.close(os.open(path(server_id), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        supervisor = run_record.living(run_record.read(server_id), "supervisor")
        if supervisor is not None:
            signals.send(*supervisor, signal.SIGTERM)


def _write(server_id: str, inodes: dict[str, int]) -> None:
    group = (run_record.read(server_id) or {}).get("cgroup") or control_group(server_id)
    record = {"at": run_record.now(), "bootId": processes.boot_id(), "shm": inodes, "cgroup": group}
    records.write_json(path(server_id), record)
