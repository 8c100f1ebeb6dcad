"""Everything a service manager needs to know of one server to run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from agent import launch_files, log_policy, paths, records, restart_policy, server_process

# What a login gives nearly everywhere; the agent's own 077 would shut others out of caches they share.
_UMASK = 0o022


@dataclass(frozen=True)
class Plan:
    server_id: str
    # What an administrator reads: name of the resource, project and stack.
    title: str
    command: server_process.Command
    port: int
    drain_seconds: float
    restart: restart_policy.RestartPolicy
    logs: log_policy.LogPolicy
    temp: Path
    starts_at_boot: bool


def of_launch(server_id: str, launch: Mapping[str, Any], environment: Mapping[str, str]) -> Plan:
    """From the launch of a start step, or launch.json."""
    return Plan(
        server_id=server_id,
        title=_title(server_id),
        command=server_process.Command(
            executable=launch["executable"],
            arguments=("serve", launch["modelPath"], "--config", str(launch_files.config_path(server_id))),
            environment=environment,
            umask=_UMASK,
        ),
        port=launch["listen"]["port"],
        drain_seconds=launch["drainSeconds"],
        restart=restart_policy.RestartPolicy.parse(launch["restart"]),
        logs=log_policy.of_launch(dict(launch)),
        temp=paths.temp_folder(server_id),
        starts_at_boot=launch.get("startOnBoot") is not False,
    )


def _title(server_id: str) -> str:
    owner: Optional[Any] = records.read_json(paths.server_folder(server_id) / "owner.json")
    if not isinstance(owner, dict) or not owner.keys() >= {"name", "project", "stack"}:
        return server_id
    return f"{owner['name']} (project {owner['project']}, stack {owner['stack']})"
