"""Op observe: looks, and changes nothing on the host."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, Optional

from agent import (
    drift_seen,
    gpu_seen,
    gpu_xid,
    host_facts,
    observed_others,
    processes,
    registry,
    server_seen,
    side_by_side,
    state_guard,
)
from agent.observed_parts import Parts


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Observation of core/observed.ts, servers in the order of the queries; where it is wished, the others of
    remote/protocol.ts beside them. Everything is looked at at once, each thing one time, whoever asks for it."""
    state_guard.demand_private()
    moment = processes.Snapshot()
    known = registry.load_all(moment)
    queries = request["servers"]
    asked = [_server(query, known, moment) for query in queries]
    others = observed_others.choose(request, asked, known)
    parts = Parts(queries, others)
    # What only a start needs to know costs a call of nvidia-smi and a look at the kernel's log.
    is_for_start = request.get("forStart") is True
    seen = side_by_side.run(
        {
            "gpus": partial(gpu_seen.look, known, is_for_start),
            **({"xids": gpu_xid.look} if is_for_start else {}),
            **{
                ("asked", index): _look(server, queries[index], request) for index, server in enumerate(asked)
            },
            **{("other", server.server_id): partial(observed_others.describe, server) for server in others},
            **parts.looks(known),
        }
    )
    gpus, gpu_error = seen.told("gpus")
    servers = [
        {"server": seen.told(("asked", index)), **parts.of_query(query, seen)}
        for index, query in enumerate(queries)
    ]
    host = {**host_facts.look(), "xids": seen.told_or_none("xids")}
    observation = {"host": host, "gpus": gpus, "gpuError": gpu_error, "servers": servers}
    wish = request.get("others")
    if wish is None:
        return observation
    return {**observation, "others": {**observed_others.tell(others, wish["salt"], seen), **parts.tell(seen)}}


ABSENT: dict[str, Any] = {
    "status": "absent",
    "owner": None,
    "generation": 0,
    "launch": None,
    "lastGood": None,
    "manager": None,
    "unit": None,
    "leader": None,
    "startedAt": None,
    "ready": None,
    "lastExit": None,
    "crashes": [],
    "illness": None,
    "restarts": 0,
    "processes": [],
    "secretsMatch": None,
    "modelPathIntact": None,
    "differences": drift_seen.NONE,
    "stateFolder": None,
    "logPath": None,
}


def _look(
    server: Optional[registry.Server], query: dict[str, Any], request: dict[str, Any]
) -> Callable[[], dict[str, Any]]:
    """A token is paid for by a refresh, and by whoever was told that there is none."""
    if server is None:
        return lambda: ABSENT
    asks_token = query.get("asksToken") is True or request.get("others") is not None
    return partial(server_seen.describe, server, query["secretEnvironment"], asks_token)


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
