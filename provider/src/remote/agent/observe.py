"""Op observe: looks, and changes nothing on the host."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, Optional

from agent import (
    accounts,
    checkpoint,
    executable,
    gpu_seen,
    paths,
    port_seen,
    processes,
    records,
    registry,
    server_seen,
    state_guard,
)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Observation of core/observed.ts; servers in the order of the queries."""
    state_guard.demand_private()
    moment = processes.Snapshot()
    known = registry.load_all(moment)
    gpus, gpu_error = gpu_seen.look(known)
    find = cache(executable.find)
    servers = []
    for query in request["servers"]:
        server = _server(query, known, moment)
        listen = query["listen"]
        secrets = query["secretEnvironment"]
        servers.append(
            {
                "server": ABSENT if server is None else server_seen.describe(server, secrets),
                # Not asked for is not the same as null: null means the vllm of the login environment.
                "executable": find(query["executable"]) if "executable" in query else None,
                "checkpoint": checkpoint.look(query["checkpointPath"]) if "checkpointPath" in query else None,
                "port": port_seen.look(listen["address"], listen["port"], known),
            }
        )
    return {"host": _host(), "gpus": gpus, "gpuError": gpu_error, "servers": servers}


ABSENT: dict[str, Any] = {
    "status": "absent",
    "owner": None,
    "generation": 0,
    "launch": None,
    "leader": None,
    "startedAt": None,
    "ready": None,
    "lastExit": None,
    "restarts": 0,
    "processes": [],
    "secretsMatch": None,
    "modelPathIntact": None,
    "stateFolder": None,
    "logPath": None,
}


def _server(
    query: dict[str, Any], known: Sequence[registry.Server], moment: processes.Snapshot
) -> Optional[registry.Server]:
    """By id where the client knows one (a newer server of its URN is not its business then), else by URN."""
    server_id = query["serverId"]
    if server_id is None:
        ids = registry.ids_of_urn(query["urn"])
        if not ids:
            return None
        server_id = ids[0]
    found = next((server for server in known if server.server_id == server_id), None)
    return found or registry.load(server_id, moment)


def _host() -> dict[str, Any]:
    return {
        "hostname": os.uname().nodename,
        "user": accounts.name_of(os.getuid()),
        "uid": os.getuid(),
        "home": str(paths.home()),
        "bootId": processes.kernel_boot_id(),
        "stateRoot": str(paths.state_root()),
        "pythonVersion": "%d.%d.%d" % sys.version_info[:3],
        "diskFreeBytes": records.free_bytes(paths.state_root()),
        "shmFreeBytes": records.free_bytes("/dev/shm"),
    }
