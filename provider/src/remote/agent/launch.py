"""Step start: checks that the host is as the start needs it, puts its files in place, hands it to its manager."""

from __future__ import annotations

import os
import stat
from typing import Any

from agent import (
    environment,
    executable,
    gpu_seen,
    gpus,
    launch_files,
    logs,
    manager_choice,
    paths,
    port_seen,
    registry,
    run_record,
    service_managers,
    start_plan,
    supervised_start,
)
from agent.failure import AgentFailure
from agent.start_plan import Plan


def run(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """startResult of remote/protocol.ts, once the leader of the new start is on record."""
    launch = step["launch"]
    others = [server for server in registry.load_all() if server.server_id != server_id]
    _demand_nothing_lives(server_id)
    _demand_executable(launch["executable"])
    _demand_free_port(launch["listen"], others)
    chosen, baseline, indexes = _choose_gpus(launch["gpus"], others)
    manager, notes = manager_choice.choose(server_id, launch)
    previous = run_record.read(server_id)
    generation = max([run_record.generation_of(previous), *logs.generations(server_id)]) + 1
    launch_files.write(
        server_id,
        {**launch, "manager": manager, "managerWish": launch.get("manager", "process")},
        generation,
        chosen,
        baseline,
    )
    pid = service_managers.named(manager).start(
        _plan(server_id, launch, chosen if launch.get("gpuNames") != "index" else indexes),
        {**(previous or {}), "generation": generation - 1},
    )
    return {
        "generation": generation,
        "pid": pid,
        "gpuUuids": chosen,
        "logPath": str(logs.path(server_id, generation)),
        "manager": manager,
        "notes": notes,
    }


def _demand_nothing_lives(server_id: str) -> None:
    server = registry.load(server_id)
    if server.occupies():
        alive = ", ".join(f"pid {member.pid}" for member in server.members) or "its supervisor"
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot start {server_id}: {alive} of it still runs, need it stopped",
            retryable=True,
        )


def _demand_executable(path: str) -> None:
    try:
        found = os.stat(path)
    except OSError as error:
        raise supervised_start.not_found(path, os.strerror(error.errno or 0)) from error
    if not stat.S_ISREG(found.st_mode) or not os.access(path, os.X_OK):
        raise supervised_start.not_found(path, "it is no executable file")


def _demand_free_port(listen: dict[str, Any], others: list[registry.Server]) -> None:
    seen = port_seen.look(listen["address"], listen["port"], others)
    if seen["free"]:
        return
    if seen["serverId"] is not None:
        owner = f"the server {seen['serverId']}"
    elif seen["pid"] is not None:
        owner = f"pid {seen['pid']} of {seen['user']}: {seen['command']}"
    else:
        owner = f"a process of {seen['user'] or 'somebody'} that cannot be seen"
    raise AgentFailure(
        "PORT_IN_USE",
        f"Cannot listen on {listen['address']}:{listen['port']}: it is taken by {owner}, need it free",
        change="listen.port, or end what holds it",
    )


def _choose_gpus(
    wish: dict[str, Any], others: list[registry.Server]
) -> tuple[list[str], dict[str, int], list[str]]:
    """UUIDs in CUDA's order, the MiB in use on each before the start, and their indexes. Ours were freed before."""
    if wish["kind"] == "none":
        return [], {}, []
    found, error = gpu_seen.look(others)
    if found is None:
        reason = error or "the host has no nvidia-smi"
        raise AgentFailure(
            "GPU_NOT_FOUND", f"Cannot choose GPUs: {reason}", change="gpus, or the driver of the host"
        )
    try:
        chosen = gpus.choose(found, wish, set())
    except AgentFailure as failure:
        # A GPU that fell off the bus is missing among the others.
        failure.evidence = "; ".join(told for told in (failure.evidence, error) if told) or None
        raise
    index = {gpu["uuid"]: str(gpu["index"]) for gpu in found}
    baseline = {gpu["uuid"]: gpu["memoryUsedMib"] for gpu in found if gpu["uuid"] in chosen}
    # A slice of a GPU has no index.
    return chosen, baseline, [index.get(uuid, uuid) for uuid in chosen]


def _plan(server_id: str, launch: dict[str, Any], gpu_names: list[str]) -> Plan:
    login = executable.login_environment()
    temp = paths.temp_folder(server_id)
    return start_plan.of_launch(
        server_id, launch, environment.build(login, launch, server_id, temp, gpu_names)
    )
