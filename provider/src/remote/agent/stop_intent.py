"""stop-intent: from here on the supervisor must not restart the server. Keeps what a stop that is cut off saw."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from agent import paths, process_age, processes, records, run_record, shm


def path(server_id: str) -> Path:
    return paths.server_folder(server_id) / "stop-intent"


def declare(server_id: str) -> None:
    _write(server_id, shm_names(server_id))


def withdraw(server_id: str) -> None:
    path(server_id).unlink(missing_ok=True)


def note_shm(server_id: str, members: Sequence[processes.Process]) -> None:
    """What these are about to leave behind: the supervisor's last look can be a few seconds old."""
    if not members:
        return
    since = time.time() - max(process_age.age_seconds(member.start_ticks) for member in members)
    seen = shm.names_made_by([member.pid for member in members], since)
    if seen:
        _write(server_id, sorted(seen.union(shm_names(server_id))))


def shm_names(server_id: str) -> list[str]:
    """Noted by this stop and earlier ones of this boot; names of another boot are gone with its memory."""
    found = records.read_json(path(server_id))
    if not isinstance(found, dict) or found.get("bootId") != processes.boot_id():
        return []
    return [str(name) for name in found.get("shm") or []]


def _write(server_id: str, names: list[str]) -> None:
    record = {"at": run_record.now(), "bootId": processes.boot_id(), "shm": names}
    records.write_json(path(server_id), record)
