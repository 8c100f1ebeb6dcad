"""Whether a server that was proven ready still serves: asked, where its records and sockets alone do not tell."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Optional

from agent import (
    crashes,
    logs,
    paths,
    process_place,
    records,
    redact,
    run_record,
    status,
    token_probe,
    work_done,
)
from agent.registry import Server

_MOST_PROCESSES = 24
# In less the clock ticks of the kernel tell nothing.
_LEAST_SECONDS = 1.0

# What the request for one token comes to, for a server that listens. The others leave it as it looks.
_BY_OUTCOME = {"unanswered": "hung", "refused": "unresponsive", "answered": "ready", "busy": "ready"}


@dataclass(frozen=True)
class Served:
    # A word of serverStatusSchema (core/observed.ts).
    status: str
    # Differences.token of core/observed-differences.ts.
    token: Optional[dict[str, Any]] = None
    # ServerSeen.illness of core/observed.ts.
    illness: Optional[dict[str, Any]] = None


def look(server: Server, asks_token: bool) -> Served:
    """`asks_token`: also of a server that looks ready. One that listens and does not tell its health is asked always: it may
    just have too much to do, and then it is ready."""
    looks = status.status_of(server)
    if looks not in ("ready", "unresponsive"):
        return Served(looks)
    health: Optional[int] = 200
    if looks == "unresponsive":
        if not status.listens(server):
            return Served(looks, illness=_illness(server, False, None, _Watch(server)))
        # Once more: the first time may have met it in a bad moment.
        health = status.health(server)
        if health not in (None, 200):
            return Served(looks, illness=_illness(server, True, health, _Watch(server)))
    watch = _Watch(server)
    token = token_probe.ask(server) if asks_token or health is None else None
    found = "ready" if health == 200 else "unresponsive"
    if token is not None:
        found = _BY_OUTCOME.get(token["outcome"], found)
    return Served(found, token, None if found == "ready" else _illness(server, True, health, watch))


class _Watch:
    """What the processes of a server do while it is asked for a token."""

    def __init__(self, server: Server) -> None:
        self._members = server.members[:_MOST_PROCESSES]
        self._began = time.monotonic()
        self._before = {member.pid: work_done.read(member.pid) for member in self._members}

    def processes(self) -> list[dict[str, Any]]:
        seconds = max(_LEAST_SECONDS, time.monotonic() - self._began)
        told = []
        for member in self._members:
            before, now = self._before[member.pid], work_done.read(member.pid)
            if before is not None and now is not None:
                told.append(process_place.describe(member, now.since(before).cpu_seconds / seconds))
        return told


def _illness(server: Server, listens: bool, health: Optional[int], watch: _Watch) -> dict[str, Any]:
    folder = paths.server_folder(server.server_id)
    redact.also({"secretEnvironment": records.read_json(folder / "secrets.json")})
    path = logs.path(server.server_id, run_record.generation_of(server.run))
    return {
        "listens": listens,
        "health": health,
        "log": crashes.excerpt(path),
        "processes": watch.processes(),
    }
