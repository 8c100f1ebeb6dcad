"""Op survey: what a host is and has, whoever wants to start what there. Looks, and changes nothing."""

from __future__ import annotations

from typing import Any, Optional

from agent import (
    executable,
    hf_client,
    manager_choice,
    observe,
    processes,
    registry,
    secret_hash,
    server_seen,
    side_by_side,
    toolchain,
)


def run(_request: dict[str, Any]) -> dict[str, Any]:
    """HostSurvey of core/observed-survey.ts."""
    machine = observe.run({"servers": [], "forStart": True})
    known = [server for server in registry.load_all(processes.Snapshot()) if server.is_known()]
    seen = side_by_side.run(
        {
            # One after the other: they share a login.
            "programs": _programs,
            "managers": manager_choice.survey,
            **{server.server_id: _describe(server) for server in known},
        }
    )
    return {
        "machine": {name: machine[name] for name in ("host", "gpus", "gpuError")},
        **seen.told("programs"),
        "managers": seen.told("managers"),
        "servers": [
            {"serverId": server.server_id, "server": seen.told_or_none(server.server_id)} for server in known
        ],
    }


def _programs() -> dict[str, Any]:
    vllm = executable.find(None)
    client = hf_client.find(None)
    path = str(vllm.get("path", ""))
    return {
        "executable": vllm,
        "hubClient": None if client is None else str(client),
        "missingTools": toolchain.missing(_completed(path), path),
    }


def _completed(path: str) -> dict[str, str]:
    return toolchain.complete(executable.login_environment(), path)


def _describe(server: registry.Server) -> Any:
    def describe() -> Optional[dict[str, Any]]:
        return server_seen.describe(server, secret_hash.kept(server.server_id), asks_token=False)

    return describe
