"""How a server is: one of the words of serverStatusSchema (core/observed.ts)."""

from __future__ import annotations

from typing import Optional

from agent import crashes, readiness, run_record, stop_intent
from agent.http_call import Endpoint, NoAnswer
from agent.registry import Server
from agent.sockets import reachable_address

HEALTH_SECONDS = 3.0

# States of run.json that leave nothing to look at.
_TOLD_BY_SUPERVISOR = ("stopped", "gave-up", "restarting")


def status_of(server: Server) -> str:
    """Asks /health (3 s) of a server that was proven ready; everything else is told by records and /proc.

    An automatic restart keeps the proof: it runs the same launch, so that what listens and is healthy is ready again.
    """
    if not server.is_known():
        return "absent"
    if server.run is None:
        # Its record is gone or was never written, but its marker gives living processes away.
        return "orphaned" if server.members else "stopped"
    if not server.is_supervised:
        return _unsupervised(server)
    # A stop that was cut off: it may be draining, /health still 200, and nobody would start it again.
    if stop_intent.is_declared(server.server_id):
        return "stopped"
    state = server.run.get("state")
    if state in _TOLD_BY_SUPERVISOR:
        return _given_up(server) if state == "gave-up" else str(state)
    if run_record.living(server.run, "leader") is None:
        # It died a moment ago: the supervisor ends what is left and then decides.
        return "restarting"
    return _running(server)


def _unsupervised(server: Server) -> str:
    if server.members:
        return "orphaned"
    state = (server.run or {}).get("state")
    if state == "stopped" or stop_intent.is_declared(server.server_id):
        return "stopped"
    if state == "gave-up":
        return _given_up(server)
    return "crashed" if run_record.is_of_this_boot(server.run) else "rebooted"


def _given_up(server: Server) -> str:
    """A server that nobody was to start again has crashed, and not in a loop."""
    return "crash-looping" if len(crashes.loop_of(server)) > 1 else "crashed"


def _running(server: Server) -> str:
    ready = server.ready_of_launch()
    if ready is None:
        return "starting"
    if listens(server):
        return "ready" if health(server) == 200 else "unresponsive"
    # The newest process has to have been proven itself, to be blamed for not listening: after an automatic
    # restart it comes up like any other start.
    return "unresponsive" if ready["generation"] == run_record.generation_of(server.run) else "starting"


def listens(server: Server) -> bool:
    """By its own socket: somebody else's on the port says nothing."""
    listen = server.listen()
    return listen is not None and bool(readiness.own_listeners(listen["port"], server.members))


def health(server: Server) -> Optional[int]:
    """Status code of /health; None: no answer in time. 503: its engine is dead. Source: vLLM 0.32.0, health of its API server."""
    listen = server.listen() or {}
    endpoint = Endpoint(reachable_address(listen["address"]), listen["port"], None)
    try:
        return endpoint.get("/health", HEALTH_SECONDS).status
    except NoAnswer:
        return None
