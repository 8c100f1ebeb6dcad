"""When a server that died is started again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent import paths, records
from agent.failure import AgentFailure


@dataclass(frozen=True)
class RestartPolicy:
    """At most `max` automatic starts within any `within_seconds`; 0 = never. `delay_seconds` before each."""

    max: int
    within_seconds: float
    delay_seconds: float

    @staticmethod
    def parse(value: dict[str, Any]) -> RestartPolicy:
        return RestartPolicy(int(value["max"]), float(value["withinSeconds"]), float(value["delaySeconds"]))


def allows(policy: RestartPolicy, restarts_at: list[float], unserved: int, now: float) -> bool:
    """Whether one more automatic start is allowed. `restarts_at` and `now` in seconds of one monotonic clock.

    `unserved`: starts in a row that ended before they served. A big model takes minutes until it fails: so slow a
    loop never fills the window, and would hold the GPUs for ever.
    """
    recent = [at for at in restarts_at if now - at <= policy.within_seconds]
    return len(recent) < policy.max and unserved <= policy.max


def current(server_id: str, fallback: RestartPolicy) -> RestartPolicy:
    """policy.json as it stands now, so that limits can change under a running supervisor."""
    try:
        return RestartPolicy.parse(records.read_json(_path(server_id)))
    except (TypeError, KeyError, ValueError, OSError, AgentFailure):
        return fallback


def standing(server_id: str, launch: dict[str, Any]) -> dict[str, Any]:
    """What counts now, in the form of a declaration; differs from the launch's own while it is suspended."""
    found = current(server_id, RestartPolicy.parse(launch["restart"]))
    return {
        "max": found.max,
        "withinSeconds": found.within_seconds,
        "delaySeconds": found.delay_seconds,
    }


def suspend(server_id: str) -> None:
    """No automatic start until the policy is written again: whoever watched this start saw it fail, and is told so.

    Should the client die before it has stopped what is left, nothing goes on trying behind everybody's back.
    """
    found = records.read_json(_path(server_id))
    if isinstance(found, dict):
        with records.best_effort():
            records.write_json(_path(server_id), {**found, "max": 0})
            # The units of systemd look for it.
            records.write_text(_barrier(server_id), "")


def write(server_id: str, declared: Mapping[str, Any]) -> None:
    """From a launch, or the step policy: from the next death on its limits count."""
    other = {name: declared[name] for name in ("startOnBoot", "logs") if name in declared}
    records.write_json(_path(server_id), {**declared["restart"], **other})
    _barrier(server_id).unlink(missing_ok=True)


def _barrier(server_id: str) -> Path:
    return paths.server_folder(server_id) / "no-restart"


def _path(server_id: str) -> Path:
    return paths.server_folder(server_id) / "policy.json"
