"""Step stop: ends whatever is left of a server, and looks whether it really is gone."""

from __future__ import annotations

import time
from typing import Any, Optional

from agent import (
    ending,
    gpu_release,
    paths,
    processes,
    readiness,
    records,
    registry,
    run_record,
    shm,
    stop_intent,
    supervision,
    temp_files,
    unkillable,
)

# Engine and workers need 6 to 8 s after the drain. Source: vLLM 0.32.0, measured.
_TEARDOWN_SECONDS = 15.0


def run(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """StopResult of remote/protocol.ts. Raises STOP_INCOMPLETE or GPU_MEMORY_HELD; can be repeated after any cut."""
    began = time.monotonic()
    # Before the look: a restart that begins after it does not happen.
    stop_intent.declare(server_id)
    found = run_record.read(server_id)
    launch = registry.load_launch(server_id) or {}
    members = processes.members_of(server_id, found)
    orphans = _orphans(members, found)
    noted = stop_intent.note_shm(server_id, members)

    _end(server_id, step, launch, found, members)
    supervision.release_all(server_id)
    _demand_nothing_lives(server_id)
    last = run_record.read(server_id)
    by_supervisor = set(_names(last, "shmRemoved")).difference(_names(found, "shmRemoved"))
    inodes = {**_inodes(found), **_inodes(last), **stop_intent.shm_inodes(server_id)}
    names = {*noted, *inodes, *_names(found, "shm"), *_names(last, "shm")}
    removed = sorted(by_supervisor.union(shm.remove_unused(names, inodes)))
    temp_files.empty(paths.temp_folder(server_id))
    _close_record(server_id)
    return {
        "ended": [{"pid": member.pid, "command": member.command} for member in members],
        "orphans": orphans,
        "removedShm": removed,
        "gpuMemoryMib": gpu_release.wait_until_released(
            server_id,
            _gpu_baseline(found, launch),
            step["gpuFreeSeconds"],
            strangers_may_hold=not members,
        ),
        "seconds": round(time.monotonic() - began, 3),
    }


def _end(
    server_id: str,
    step: dict[str, Any],
    launch: dict[str, Any],
    found: Optional[dict[str, Any]],
    members: list[processes.Process],
) -> None:
    port = int((launch.get("listen") or {}).get("port") or 0)
    is_ready = found is not None and readiness.has_served(server_id, found, members, port)
    drain = min(step["drainSeconds"] + _TEARDOWN_SECONDS, step["killAfterSeconds"])
    ending.end_server(
        lambda: _members(server_id),
        time.sleep,
        lambda held: stop_intent.note_shm(server_id, held),
        run_record.living(found, "leader"),
        drain if is_ready else None,
    )


def _members(server_id: str) -> list[processes.Process]:
    """By the record as it stands: a restart that was under way may have added a session."""
    found = run_record.read(server_id)
    group = (found or {}).get("cgroup") or stop_intent.control_group(server_id)
    return processes.members_of(server_id, {**found, "cgroup": group} if found is not None else None)


def _orphans(members: list[processes.Process], found: Optional[dict[str, Any]]) -> int:
    leader = run_record.living(found, "leader")
    leader_pid = None if leader is None else leader[0]
    return sum(1 for member in ending.topmost(members) if member.pid != leader_pid)


def _demand_nothing_lives(server_id: str) -> None:
    left = ending.kill_all(
        lambda: _members(server_id), time.sleep, lambda held: stop_intent.note_shm(server_id, held)
    )
    if left:
        raise unkillable.failure(server_id, left)


def _gpu_baseline(found: Optional[dict[str, Any]], launch: dict[str, Any]) -> dict[str, int]:
    """A reboot has taken back all that was held; what is in use now began with this boot."""
    if found is not None and not run_record.is_of_this_boot(found):
        return {}
    return dict(launch.get("gpuBaselineMib") or {})


def _names(found: Optional[dict[str, Any]], field: str) -> list[str]:
    """Names of another boot are gone with its memory; what is called so now is somebody else's."""
    return list(found.get(field) or []) if found is not None and run_record.is_of_this_boot(found) else []


def _inodes(found: Optional[dict[str, Any]]) -> dict[str, int]:
    return dict((found or {}).get("shmInodes") or {})


def _close_record(server_id: str) -> None:
    """The supervisor is gone: where it could not say so itself (killed, another boot), this is said for it."""
    found = run_record.read(server_id)
    if found is not None and "unit" not in found:
        # Without room for it the stop intent still tells that it was stopped.
        with records.best_effort():
            run_record.write(server_id, {**run_record.closed(found, "stopped"), "shm": []})
