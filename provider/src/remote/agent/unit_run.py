"""The run record of a server that systemd runs: what systemd tells of its unit, and what the unit wrote down itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from agent import paths, processes, systemctl, unit_names

_PROPERTIES = (
    *("LoadState", "ActiveState", "Result", "UnitFileState"),
    *("MainPID", "ControlPID", "ControlGroup"),
)
# Of a unit in one of these, systemd will do something by itself.
_ACTED_ON = ("active", "activating", "deactivating", "reloading")


def scope_of(manager: str) -> systemctl.Scope:
    return systemctl.USER if manager == "systemd-user" else systemctl.SYSTEM


def is_running(scope: systemctl.Scope) -> bool:
    """Whether this systemd can be asked. A user's own runs from the first login to the last, or for ever with linger."""
    if not scope.is_user:
        return os.path.isdir("/run/systemd/system")
    return os.path.exists(f"/run/user/{os.getuid()}/systemd/private")


def signal_name(number: int) -> str:
    """As systemd says it: "KILL"."""
    return signal.Signals(number).name[len("SIG") :]


def shown_of(managers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What systemd tells of the units of these servers (id -> manager): asked once for all of the system's, once for the user's."""
    found: dict[str, dict[str, str]] = {}
    for scope in (systemctl.SYSTEM, systemctl.USER):
        ids = [one for one, name in managers.items() if name != "process" and scope_of(name) == scope]
        if ids and is_running(scope):
            units = [unit_names.service(one) for one in ids]
            found.update(zip(ids, systemctl.show(scope, units, _PROPERTIES)))
    return found


def read(server_id: str, manager: str, shown: Optional[Mapping[str, str]] = None) -> Optional[dict[str, Any]]:
    """As run_record.read gives it; None: it was never started. `shown`: what systemd told of it this moment."""
    folder = paths.server_folder(server_id)
    started = _started(folder)
    if started is None:
        return None
    generation, boot, at = started
    unit = _unit(server_id, _shown(server_id, manager) if shown is None else shown)
    is_acted_on = unit["activeState"] in _ACTED_ON
    leader = _identity(unit["mainPid"]) if is_acted_on else None
    is_of_this_boot = boot == processes.boot_id()
    return {
        "bootId": boot,
        "supervisor": None,
        "leader": leader,
        "sessions": [],
        "cgroup": unit["controlGroup"] if is_acted_on else "",
        "controlPid": unit["controlPid"],
        "generation": generation,
        "startedAt": at,
        "state": _state(unit, leader, is_of_this_boot),
        "nextStartAt": None,
        "exits": _exits(folder),
        "shm": _shm(folder),
        "shmRemoved": [],
        "unit": unit,
        "isActedOn": is_acted_on,
    }


def _state(unit: Mapping[str, Any], leader: Optional[dict[str, int]], is_of_this_boot: bool) -> str:
    """A word of run.json."""
    if leader is not None and unit["activeState"] == "active":
        return "running"
    if unit["activeState"] in _ACTED_ON:
        return "restarting"
    if not is_of_this_boot:
        return "running"  # as far as anybody knows: the boot that it ran in is over
    is_given_up = unit["activeState"] == "failed" or unit["result"] == "exec-condition"
    return "gave-up" if is_given_up else "stopped"


def _unit(server_id: str, shown: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": unit_names.service(server_id),
        "loadState": shown.get("LoadState", "not-found"),
        "activeState": shown.get("ActiveState", "inactive"),
        "result": shown.get("Result", ""),
        "mainPid": int(shown.get("MainPID") or 0),
        # Of unit.sh while it prepares a start, or says how one ended.
        "controlPid": int(shown.get("ControlPID") or 0),
        "controlGroup": shown.get("ControlGroup", ""),
        "unitFileState": shown.get("UnitFileState", ""),
    }


def _shown(server_id: str, manager: str) -> Mapping[str, str]:
    """{}: this user's manager does not run, and so does nothing of it; that is how it is after a reboot without linger."""
    return shown_of({server_id: manager}).get(server_id, {})


def _started(folder: Path) -> Optional[tuple[int, str, Optional[str]]]:
    """Generation, boot and time of the newest start."""
    words = _lines(folder / "started")[:1]
    fields = words[0].split() if words else []
    if len(fields) < 2 or not fields[0].isdigit():
        return None
    return int(fields[0]), fields[1], fields[2] if len(fields) > 2 else None


def _exits(folder: Path) -> list[dict[str, Any]]:
    found = (_exit(line.split()) for line in _lines(folder / "exits"))
    return [one for one in found if one is not None]


def _exit(fields: list[str]) -> Optional[dict[str, Any]]:
    if len(fields) < 5 or not fields[0].isdigit():
        return None
    generation, how, status, _result, at = fields[:5]
    number: Optional[int] = None
    code: Optional[int] = None
    if how == "exited":
        code = int(status) if status.isdigit() else None
    else:
        number = getattr(signal, "SIG" + status, None)
    return {
        "generation": int(generation),
        "code": code,
        "signal": None if number is None else int(number),
        "at": at,
        "served": "unserved" not in fields[5:],
    }


def _shm(folder: Path) -> list[str]:
    """Names of another boot are gone with its memory."""
    boot, *names = _lines(folder / "shm") or [""]
    return names if boot == processes.boot_id() else []


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def _identity(pid: int) -> Optional[dict[str, int]]:
    found = processes.read_process(pid) if pid > 0 else None
    return None if found is None else {"pid": pid, "startTicks": found.start_ticks}
