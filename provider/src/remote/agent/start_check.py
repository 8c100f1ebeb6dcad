"""What a start needs of the host: an executable, its port, its GPUs. Asked before anything is stopped for it, while
the server that runs still holds them, and once more right before it starts."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from agent import environment_check, environments, gpu_seen, gpus, port_seen, registry, supervised_start
from agent.failure import AgentFailure
from agent.registry import Server


@dataclass(frozen=True)
class Gpus:
    # In CUDA's order.
    uuids: list[str]
    # As nvidia-smi counts them, in the same order; a slice of a GPU has none and keeps its UUID.
    indexes: list[str]
    # MiB in use on each now.
    baseline_mib: dict[str, int]


def demand(server_id: str, launch: dict[str, Any]) -> Gpus:
    """GPUs that the start gets. What the server holds itself counts as free for it.

    Raises VLLM_NOT_FOUND, PORT_IN_USE, GPU_NOT_FOUND, GPUS_NOT_FREE or WHEEL_UNSUITABLE; whoever is in the way is named.
    """
    servers = registry.load_all()
    _demand_executable(launch["executable"])
    _demand_free_port(server_id, launch["listen"], servers)
    own = next((server for server in servers if server.server_id == server_id), None)
    chosen = _choose_gpus(launch["gpus"], servers, own)
    _demand_fit(launch["executable"], chosen.uuids)
    return chosen


def _demand_executable(path: str) -> None:
    try:
        found = os.stat(path)
    except OSError as error:
        raise supervised_start.not_found(path, os.strerror(error.errno or 0)) from error
    if not stat.S_ISREG(found.st_mode) or not os.access(path, os.X_OK):
        raise supervised_start.not_found(path, "it is no executable file")


def _demand_fit(path: str, uuids: list[str]) -> None:
    """Of environments that the tool has built it is known what for."""
    name = environments.name_in(path)
    if name and uuids:
        environment_check.demand_fit(name, uuids)


def _demand_free_port(server_id: str, listen: dict[str, Any], servers: Sequence[Server]) -> None:
    seen = port_seen.look(listen["address"], listen["port"], servers)
    if seen["free"] or seen["serverId"] == server_id:
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


def _choose_gpus(wish: dict[str, Any], servers: Sequence[Server], own: Optional[Server]) -> Gpus:
    if wish["kind"] == "none":
        return Gpus([], [], {})
    found, error = gpu_seen.look(servers)
    if found is None:
        reason = error or "the host has no nvidia-smi"
        raise AgentFailure(
            "GPU_NOT_FOUND", f"Cannot choose GPUs: {reason}", change="gpus, or the driver of the host"
        )
    try:
        chosen = gpus.choose(found, wish, set() if own is None else _held_alone(own, found))
    except AgentFailure as failure:
        # A GPU that fell off the bus is missing among the others.
        failure.evidence = "; ".join(told for told in (failure.evidence, error) if told) or None
        raise
    index = {gpu["uuid"]: str(gpu["index"]) for gpu in found}
    baseline = {gpu["uuid"]: gpu["memoryUsedMib"] for gpu in found if gpu["uuid"] in chosen}
    return Gpus(chosen, [index.get(uuid, uuid) for uuid in chosen], baseline)


def _held_alone(own: Server, found: Sequence[dict[str, Any]]) -> set[str]:
    """What will be free once the server is stopped: nobody else is seen to compute there."""
    held = gpu_seen.held_by(own)
    return {
        gpu["uuid"]
        for gpu in found
        if gpu["uuid"] in held
        and all(one["serverId"] == own.server_id or one["user"] is None for one in gpu["processes"])
    }
