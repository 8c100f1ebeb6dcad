"""GpuSeen of core/observed.ts: GPUs, who computes on them and who has them reserved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from agent import accounts, gpus, processes
from agent.registry import Server


def look(
    servers: Sequence[Server], with_condition: bool = False
) -> tuple[Optional[list[dict[str, Any]]], Optional[str]]:
    """(GPUs, what went wrong), as `gpus.query` gives them, with holders named and `reservedBy` set."""
    found, error = gpus.query(with_condition)
    if found is None:
        return None, error
    server_of_pid = {member.pid: server.server_id for server in servers for member in server.members}
    return [_named(gpu, servers, server_of_pid) for gpu in found], error


def held_by(server: Server) -> list[str]:
    """UUIDs that the server runs on or is starting on."""
    return list((server.launch or {}).get("gpuUuids") or []) if server.occupies() else []


def _named(gpu: dict[str, Any], servers: Sequence[Server], server_of_pid: dict[int, str]) -> dict[str, Any]:
    reserved = (server.server_id for server in servers if gpu["uuid"] in held_by(server))
    return {
        **gpu,
        "processes": [_holder(entry, server_of_pid) for entry in gpu["processes"]],
        "reservedBy": next(reserved, None),
    }


def _holder(entry: dict[str, Any], server_of_pid: dict[int, str]) -> dict[str, Any]:
    # None where the driver counts pids of another namespace than ours.
    process = processes.read_process(entry["pid"])
    return {
        "pid": entry["pid"],
        "usedMib": entry["usedMib"],
        "user": None if process is None else accounts.name_of(process.uid),
        "command": None if process is None else process.command,
        "serverId": server_of_pid.get(entry["pid"]),
    }
