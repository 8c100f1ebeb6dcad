"""ServerSeen of core/observed.ts: records and processes of one server as the client gets them."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any, Optional

from agent import (
    crashes,
    drift_seen,
    last_good,
    logs,
    model_folder,
    paths,
    record_shapes,
    records,
    restart_policy,
    run_record,
    secret_hash,
    serving,
    unit_seen,
)
from agent.processes import Process
from agent.registry import Server

_LAUNCH_FIELDS = ("fingerprint", "executable", "modelPath", "listen", "servedModelNames")
_MANAGERS = ("process", "systemd", "systemd-user")
_LAUNCH_NEEDS = frozenset({*_LAUNCH_FIELDS, "restart"})


def describe(server: Server, secret_environment: dict[str, str], asks_token: bool = False) -> dict[str, Any]:
    """Everything of the server; secrets are only compared, never told. `asks_token`: of a server that looks ready."""
    run = server.run or {}
    exits = run.get("exits") or []
    folder = paths.server_folder(server.server_id)
    leader = run_record.living(server.run, "leader")
    served = serving.look(server, asks_token)
    return {
        "status": served.status,
        "owner": server.owner,
        "generation": run_record.generation_of(server.run),
        "launch": _launch(server),
        "lastGood": _last_good(server),
        "manager": _manager(server),
        "unit": unit_seen.look(server),
        "leader": None if leader is None else {"pid": leader[0], "startTicks": leader[1]},
        "startedAt": run.get("startedAt"),
        "ready": _ready(server),
        "lastExit": exits[-1] if exits else None,
        "crashes": crashes.of(server, served.status, tells_past=asks_token),
        "illness": served.illness,
        "restarts": _restarts(server),
        "processes": [_process(process) for process in server.members],
        "secretsMatch": _secrets_match(server, folder, secret_environment),
        "modelPathIntact": _is_model_intact(server.launch),
        "differences": {**drift_seen.look(server, secret_environment), "token": served.token},
        "stateFolder": str(folder) if folder.is_dir() else None,
        "logPath": _log_path(server),
    }


def _is_model_intact(launch: Optional[dict[str, Any]]) -> Optional[bool]:
    if launch is None:
        return None
    return model_folder.is_intact(launch.get("modelPath") or "", launch.get("brokenLinks") or ())


def _launch(server: Server) -> Optional[dict[str, Any]]:
    launch = server.launch
    if launch is None or not launch.keys() >= _LAUNCH_NEEDS:
        return None
    return {
        **{name: launch[name] for name in _LAUNCH_FIELDS},
        "restart": restart_policy.standing(server.server_id, launch),
        "gpuUuids": launch.get("gpuUuids") or [],
        "manager": _manager(server),
        "managerWish": _one_of(("auto", *_MANAGERS), launch.get("managerWish")),
        "startOnBoot": launch.get("startOnBoot"),
        "logs": launch.get("logs"),
        "vllmVersion": launch.get("vllmVersion"),
    }


def _last_good(server: Server) -> Optional[dict[str, Any]]:
    found = last_good.find(server)
    if found is None:
        return None
    return {"fingerprint": found.launch["fingerprint"], "vllmVersion": found.launch.get("vllmVersion")}


def _manager(server: Server) -> Optional[str]:
    """Earlier versions knew the supervisor alone, and recorded none."""
    return None if server.launch is None else _one_of(_MANAGERS, server.launch.get("manager"))


def _one_of(known: tuple[str, ...], found: Any) -> str:
    return found if isinstance(found, str) and found in known else known[0]


def _ready(server: Server) -> Optional[dict[str, Any]]:
    ready = server.ready_of_launch()
    return None if ready is None or not ready.keys() >= record_shapes.READY_NEEDED else ready


def _restarts(server: Server) -> int:
    """Automatic starts since the last one that was asked for."""
    asked = (server.launch or {}).get("generation")
    return max(0, run_record.generation_of(server.run) - asked) if isinstance(asked, int) else 0


def _process(process: Process) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "startTicks": process.start_ticks,
        "sessionId": process.session_id,
        "uid": process.uid,
        "state": process.state,
        "command": process.command,
    }


def _secrets_match(server: Server, folder: Path, wanted: dict[str, str]) -> Optional[bool]:
    if server.launch is None:
        return None
    kept = records.read_json(folder / "secrets.json") or {}
    return hmac.compare_digest(secret_hash.canonical(kept), secret_hash.canonical(wanted))


def _log_path(server: Server) -> Optional[str]:
    generation = run_record.generation_of(server.run)
    return str(logs.path(server.server_id, generation)) if generation > 0 else None
