"""How a server that runs differs from what was last started: Differences of core/observed-differences.ts."""

from __future__ import annotations

from typing import Any

from agent import drift_config, drift_listen, drift_overlay, drift_process, secret_hash
from agent.registry import Server

NONE: dict[str, Any] = {
    "arguments": None,
    "environment": [],
    "secrets": [],
    "config": None,
    "overlay": [],
    "listening": None,
    "token": None,
}


def look(server: Server, secret_environment: dict[str, str]) -> dict[str, Any]:
    """Looks at /proc and at files. `token` is for whoever asks the server itself."""
    return {
        **NONE,
        "arguments": drift_process.arguments(server),
        "environment": drift_process.variables(server),
        "secrets": _secrets(server, secret_environment),
        "config": drift_config.look(server),
        "overlay": drift_overlay.look(server),
        "listening": drift_listen.look(server),
    }


def _secrets(server: Server, wanted: dict[str, str]) -> list[str]:
    """Names of the secrets that the server was not started with as they are wanted."""
    if server.launch is None:
        return []
    started = secret_hash.kept(server.server_id)
    return sorted(name for name in {*started, *wanted} if started.get(name) != wanted.get(name))
