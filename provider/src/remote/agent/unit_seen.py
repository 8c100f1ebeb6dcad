"""UnitSeen of core/observed.ts: the unit of a server as systemd has it."""

from __future__ import annotations

from typing import Any, Optional

from agent import run_record, unit_files, unit_run
from agent.registry import Server


def look(server: Server) -> Optional[dict[str, Any]]:
    """None: its manager needs no unit, or it has none (it was stopped)."""
    unit = (server.run or {}).get("unit")
    if unit is None:
        return None
    scope = unit_run.scope_of(run_record.manager_of(server.launch))
    if unit["loadState"] == "not-found" and not unit_files.is_there(scope, server.server_id):
        return None
    return {
        "name": unit["name"],
        "isEnabled": unit["unitFileState"] == "enabled",
        "isEdited": unit_files.is_edited(scope, server.server_id),
    }
