"""The servers that nobody asked for, told along so that a refresh of many needs one look at their host."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional

from agent import secret_hash, server_seen
from agent.registry import Server
from agent.side_by_side import Results

# Beyond it servers are left out, and asked for by themselves; fifty with a screenful of log each stay far below.
LARGEST_BYTES = 4 * 1024 * 1024


def choose(
    request: dict[str, Any], asked: Sequence[Optional[Server]], known: Sequence[Server]
) -> list[Server]:
    """Servers of the stacks that the queries come from. Others have readers of their own, and looking costs a request each."""
    if request.get("others") is None:
        return []
    stacks = {_stack(query["urn"]) for query in request["servers"]}
    ids = {server.server_id for server in asked if server is not None}
    return [
        server
        for server in known
        if server.server_id not in ids and server.owner is not None and _stack(server.owner["urn"]) in stacks
    ]


def describe(server: Server) -> dict[str, Any]:
    """As for a query whose secrets are those the server was started with: the client compares hashes."""
    return server_seen.describe(server, secret_hash.kept(server.server_id), asks_token=True)


def tell(others: Sequence[Server], salt: str, seen: Results) -> dict[str, Any]:
    """Those that could be looked at. Who is missing is asked for by itself, and tells then what went wrong."""
    told = []
    room = LARGEST_BYTES
    for server in others:
        found = seen.told_or_none(("other", server.server_id))
        room -= 0 if found is None else len(json.dumps(found))
        if found is None or room < 0:
            continue
        hashes = None if server.launch is None else secret_hash.of(server.server_id, salt)
        told.append({"serverId": server.server_id, "secretHashes": hashes, "server": found})
    return {"servers": told}


def _stack(urn: str) -> tuple[str, ...]:
    """urn:pulumi:<stack>::<project> of urn:pulumi:<stack>::<project>::<types>::<name>."""
    return tuple(urn.split("::")[:2])
