"""run.json: what the supervisor knows of the server. Written by the supervisor, and by stop once there is none."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Optional

from agent import paths, processes, record_shapes, records

KEPT_EXITS = 20


def read(server_id: str) -> Optional[dict[str, Any]]:
    found = records.read_json(paths.server_folder(server_id) / "run.json")
    return found if record_shapes.fits(found, record_shapes.RUN) else None


def write(server_id: str, run: dict[str, Any]) -> None:
    records.write_json(paths.server_folder(server_id) / "run.json", run)


def generation_of(run: Optional[dict[str, Any]]) -> int:
    """0: never started."""
    return 0 if run is None else int(run.get("generation") or 0)


def is_of_this_boot(run: Optional[dict[str, Any]]) -> bool:
    return run is not None and run.get("bootId") == processes.boot_id()


def living(run: Optional[dict[str, Any]], role: str) -> Optional[tuple[int, int]]:
    """(pid, start ticks) of the recorded "leader" or "supervisor", None when it is not alive any more."""
    if run is None or not is_of_this_boot(run):
        return None
    recorded = run.get(role)
    if not isinstance(recorded, dict):
        return None
    identity = (int(recorded["pid"]), int(recorded["startTicks"]))
    return identity if processes.is_same(*identity) else None


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
