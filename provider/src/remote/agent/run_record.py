"""What is known of a server's run: run.json, which its supervisor writes (and stop, once there is none), or what systemd tells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Optional

from agent import paths, processes, record_shapes, records, unit_run

KEPT_EXITS = 20
# How the kernel's name of a supervisor begins.
SUPERVISOR_NAME = "pvllm-"


def read(server_id: str, shown: Optional[Mapping[str, str]] = None) -> Optional[dict[str, Any]]:
    """`shown`: what systemd told of its unit this moment (unit_run.shown_of); None: systemd is asked where it has it."""
    manager = recorded_manager(server_id)
    if manager != "process":
        return unit_run.read(server_id, manager, shown)
    found = records.read_json(paths.server_folder(server_id) / "run.json")
    return found if record_shapes.fits(found, record_shapes.RUN) else None


def recorded_manager(server_id: str) -> str:
    return manager_of(records.read_json(paths.server_folder(server_id) / "launch.json"))


def manager_of(launch: Any) -> str:
    """Who runs what was last started. Earlier versions knew the supervisor alone, and recorded none."""
    found = launch.get("manager") if isinstance(launch, dict) else None
    return found if found in ("systemd", "systemd-user") else "process"


def is_supervised(run: Optional[dict[str, Any]]) -> bool:
    """Whether somebody may start it again by himself, or is about to end it."""
    return living(run, "supervisor") is not None or (run is not None and run.get("isActedOn") is True)


def write(server_id: str, run: dict[str, Any]) -> None:
    records.write_json(paths.server_folder(server_id) / "run.json", run)


def generation_of(run: Optional[dict[str, Any]]) -> int:
    """0: never started."""
    return 0 if run is None else int(run.get("generation") or 0)


def is_of_this_boot(run: Optional[dict[str, Any]]) -> bool:
    return run is not None and run.get("bootId") == processes.boot_id()


def living(run: Optional[dict[str, Any]], role: str) -> Optional[tuple[int, int]]:
    """(pid, start ticks) of the recorded "leader" or "supervisor", None when it is not alive any more. A unit has no supervisor."""
    if run is None or not is_of_this_boot(run):
        return None
    recorded = run.get(role)
    if not isinstance(recorded, dict):
        return None
    identity = (int(recorded["pid"]), int(recorded["startTicks"]))
    if not processes.is_same(*identity) or (role == "supervisor" and not _is_named_as_one(identity[0])):
        return None
    return identity


def _is_named_as_one(pid: int) -> bool:
    """A second proof beside the numbers: a supervisor is signalled although nothing in its environment marks it."""
    found = processes.read_process(pid)
    return found is not None and found.name.startswith(SUPERVISOR_NAME) and found.uid == os.getuid()


def exit_of(run: dict[str, Any], generation: int) -> Optional[dict[str, Any]]:
    for entry in reversed(run.get("exits", [])):
        if entry["generation"] == generation:
            return dict(entry)
    return None


def closed(run: dict[str, Any], state: str) -> dict[str, Any]:
    """The same record once nothing of the server lives any more. Numbers of another boot may be somebody's in
    this one: they go with the boot id that they belong to."""
    return {
        **run,
        "supervisor": run.get("supervisor") if living(run, "supervisor") else None,
        "bootId": processes.boot_id(),
        "leader": None,
        "sessions": [],
        "state": state,
        "nextStartAt": None,
    }


def now() -> str:
    return iso(datetime.now(timezone.utc))


def iso(at: datetime) -> str:
    """ISO 8601, UTC, milliseconds."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
