"""How many logs are kept, and how big one may grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent import paths, records
from agent.failure import AgentFailure


@dataclass(frozen=True)
class LogPolicy:
    """Logs of the newest `keep` starts, the running one among them; each below `max_bytes`, also while it grows."""

    keep: int
    max_bytes: int

    @staticmethod
    def parse(value: dict[str, Any]) -> LogPolicy:
        return LogPolicy(max(1, int(value["keep"])), int(value["maxBytes"]))


# For servers that were started by a version which knew no such policy.
UNDECLARED = LogPolicy(5, 100 << 20)


def of_launch(launch: dict[str, Any]) -> LogPolicy:
    """What launch.json, or the launch of a start step, says."""
    declared = launch.get("logs")
    return UNDECLARED if declared is None else LogPolicy.parse(declared)


def current(server_id: str, fallback: LogPolicy) -> LogPolicy:
    """policy.json as it stands now, so that it can change while the server runs."""
    try:
        return LogPolicy.parse(records.read_json(paths.server_folder(server_id) / "policy.json")["logs"])
    except (TypeError, KeyError, ValueError, OSError, AgentFailure):
        return fallback
