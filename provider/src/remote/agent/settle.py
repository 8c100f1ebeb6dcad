"""Step policy: a running server takes over what needs no restart, and what somebody changed beside it is put right."""

from __future__ import annotations

from typing import Any

from agent import (
    launch_files,
    logs,
    paths,
    records,
    registry,
    restart_policy,
    run_record,
    start_plan,
    supervision,
)

_FIELDS = ("restart", "startOnBoot", "logs")


def run(server_id: str, step: dict[str, Any]) -> None:
    """From the next death on these limits count. launch.json says the same, for whoever compares."""
    restart_policy.write(server_id, step)
    launch = registry.load_launch(server_id)
    if launch is None:
        return
    changed = {**launch, **{name: step[name] for name in _FIELDS if name in step}}
    records.write_json(paths.server_folder(server_id) / "launch.json", changed)
    launch_files.write_config(server_id, step.get("configYaml") or launch["configYaml"])
    plan = start_plan.of_launch(server_id, changed, environment={})
    supervision.named(run_record.manager_of(launch)).settle(plan)
    logs.keep_newest(server_id, plan.logs.keep)
