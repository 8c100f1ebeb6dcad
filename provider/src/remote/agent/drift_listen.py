"""Where the server listens, when it is not where it was told to."""

from __future__ import annotations

from typing import Any, Optional

from agent import run_record, sockets
from agent.http_call import Endpoint, NoAnswer
from agent.registry import Server

_HEALTH_SECONDS = 1.0
_MOST_ASKED = 8


def look(server: Server) -> Optional[dict[str, Any]]:
    """{address, port} of the API where it is another than declared; None: it is as declared, or nowhere (yet).

    The leader alone is asked: its children listen on ports of their own, for each other.
    """
    listen = server.listen()
    leader = run_record.living(server.run, "leader")
    if listen is None or leader is None:
        return None
    held = sockets.listening_of(leader[0])
    wanted = (sockets.plain(listen["address"]), listen["port"])
    if wanted in held:
        return None
    same_port = [place for place in held if place[1] == wanted[1]]
    for address, port in (same_port or held)[:_MOST_ASKED]:
        if same_port or _is_api(address, port):
            return {"address": address, "port": port}
    return None


def _is_api(address: str, port: int) -> bool:
    try:
        endpoint = Endpoint(sockets.reachable_address(address), port, None)
        return endpoint.get("/health", _HEALTH_SECONDS).status in (200, 503)
    except NoAnswer:
        return False
