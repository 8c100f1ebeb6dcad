"""Step start: checks that the host is as the start needs it, puts its files in place, hands it to its manager."""

from __future__ import annotations

from typing import Any

from agent import (
    environment,
    executable,
    last_good,
    launch_files,
    logs,
    manager_choice,
    paths,
    registry,
    run_record,
    start_check,
    start_plan,
    supervision,
)
from agent.failure import AgentFailure
from agent.start_plan import Plan


def run(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """startResult of remote/protocol.ts, once the leader of the new start is on record."""
    launch = step["launch"]
    server = _demand_nothing_lives(server_id)
    chosen = start_check.demand(server_id, launch)
    manager, notes = manager_choice.choose(server_id, launch)
    previous = run_record.read(server_id)
    generation = max([run_record.generation_of(previous), *logs.generations(server_id)]) + 1
    last_good.keep(server)
    launch_files.write(
        server_id,
        {**launch, "manager": manager, "managerWish": launch.get("manager", "process")},
        generation,
        chosen.uuids,
        chosen.baseline_mib,
    )
    plan = _plan(server_id, launch, chosen.uuids if launch.get("gpuNames") != "index" else chosen.indexes)
    pid = supervision.named(manager).start(plan, {**(previous or {}), "generation": generation - 1})
    return {
        "generation": generation,
        "pid": pid,
        "gpuUuids": chosen.uuids,
        "logPath": str(logs.path(server_id, generation)),
        "manager": manager,
        "notes": notes,
    }


def _demand_nothing_lives(server_id: str) -> registry.Server:
    server = registry.load(server_id)
    if server.occupies():
        alive = ", ".join(f"pid {member.pid}" for member in server.members) or "its supervisor"
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot start {server_id}: {alive} of it still runs, need it stopped",
            retryable=True,
        )
    return server


def _plan(server_id: str, launch: dict[str, Any], gpu_names: list[str]) -> Plan:
    login = executable.login_environment()
    temp = paths.temp_folder(server_id)
    return start_plan.of_launch(
        server_id, launch, environment.build(login, launch, server_id, temp, gpu_names)
    )
