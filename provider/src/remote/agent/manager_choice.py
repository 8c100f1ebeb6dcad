"""Which service manager a server gets: the one that was asked for, or the best that works here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Callable, Optional

from agent import accounts, command, paths, records, run_record, systemctl
from agent.failure import AgentFailure

# ExecCondition= came with 243, Type=exec with 240. Source: systemd, NEWS.
_OLDEST_SYSTEMD = 243
_SECONDS = 10.0
# Where root of this host may not be able to read a file that only its owner may.
_NETWORK_FILE_SYSTEMS = re.compile(r"nfs4?|cifs|smb3|9p|lustre|gpfs|beegfs|ceph|fuse\..+")


def choose(server_id: str, launch: Mapping[str, Any]) -> tuple[str, list[str]]:
    """(manager, what the user should know of the choice). Asked before anything is stopped for a start, and again by the start.

    "auto" keeps the recorded one while it works. Raises MANAGER_UNAVAILABLE when the one that was asked for does not work here.
    """
    known = records.read_json(paths.server_folder(server_id) / "launch.json")
    recorded = run_record.manager_of(known) if isinstance(known, dict) else None
    manager, reasons = _resolve(launch.get("manager", "process"), recorded, launch.get("sudo", "auto"))
    notes = [f"not as {name}: {reason}" for name, reason in reasons.items()] if recorded in reasons else []
    if manager == "process" and launch.get("startOnBoot") is True:
        why = f" ({'; '.join(dict.fromkeys(reasons.values()))})" if reasons else ""
        notes = [_NO_BOOT + why]
    return manager, notes


def survey() -> list[dict[str, Any]]:
    """[{name, reason}], best first, for a login that may use sudo; `reason` why it does not work here, None: it does. Changes nothing."""
    looks = {**_BY_PREFERENCE, "systemd-user": _no_user_units_yet}
    return [{"name": name, "reason": look("auto")} for name, look in looks.items()]


_NO_LINGER = "it needs linger, which a start asks for (loginctl enable-linger)"
_NO_BOOT = "it will not start at boot, which takes systemd: after a reboot of the host `pulumi up --refresh` starts it"


@cache
def _resolve(wish: str, recorded: Optional[str], sudo: str) -> tuple[str, dict[str, str]]:
    """The manager, and why each one that would have been preferred does not work."""
    if wish != "auto":
        reason = _reason(wish, sudo)
        if reason is not None:
            raise _unavailable(wish, reason)
        return wish, {}
    reasons: dict[str, str] = {}
    for name in dict.fromkeys([*([] if recorded is None else [recorded]), *_BY_PREFERENCE]):
        reason = _reason(name, sudo)
        if reason is None:
            return name, reasons
        reasons[name] = reason
    raise AssertionError("process works everywhere")


def _reason(name: str, sudo: str) -> Optional[str]:
    """Why it does not work here; None: it does."""
    return _BY_PREFERENCE[name](sudo)


def _unavailable(name: str, reason: str) -> AgentFailure:
    return AgentFailure(
        "MANAGER_UNAVAILABLE",
        f'Cannot run the server as "{name}": {reason}, need a service manager that works here',
        change=_CHANGES.get(name, "service.manager"),
    )


def _no_system_units(sudo: str) -> Optional[str]:
    reason = _no_systemd()
    if reason is not None or os.getuid() == 0:
        return reason
    if sudo == "never":
        return f'host.sudo is "never" and {_me()} is not root'
    for program in ("systemctl", "install", "rm"):
        told = command.run(["/usr/bin/env", "sudo", "-n", "-l", program], systemctl.ENVIRONMENT, _SECONDS)
        if told.code != 0:
            return f"sudo does not let {_me()} run {program} without a password ({systemctl.last_line(told)})"
    kind = _file_system(paths.state_root())
    if _NETWORK_FILE_SYSTEMS.fullmatch(kind):
        return f"{paths.state_root()} is on {kind}, where root of this host may not be able to read"
    return None


def _no_user_units_yet(_sudo: str) -> Optional[str]:
    return _no_systemd() or _no_user_manager() or (None if _lingers() else _NO_LINGER)


def _no_user_manager() -> Optional[str]:
    told = systemctl.change(systemctl.USER, "show", "--property=Version")
    return None if told.code == 0 else f"systemd does not serve {_me()} ({systemctl.last_line(told)})"


def _lingers() -> bool:
    return Path("/var/lib/systemd/linger", _me()).exists()


def _no_user_units(_sudo: str) -> Optional[str]:
    reason = _no_systemd() or _no_user_manager()
    if reason is not None or _lingers():
        return reason
    # Without it systemd ends everything of the user with the last login, and starts nothing at boot.
    told = command.run(
        ["/usr/bin/env", "loginctl", "--no-ask-password", "enable-linger"], systemctl.ENVIRONMENT, _SECONDS
    )
    if told.code == 0:
        return None
    return f"services of {_me()} end with the login, and linger is not allowed ({systemctl.last_line(told)})"


def _no_process(_sudo: str) -> Optional[str]:
    return None


_BY_PREFERENCE: dict[str, Callable[[str], Optional[str]]] = {
    "systemd": _no_system_units,
    "systemd-user": _no_user_units,
    "process": _no_process,
}

_CHANGES = {
    "systemd": 'service.manager: "auto"   (or a user with root\'s rights, by sudo without a password)',
    "systemd-user": 'service.manager: "auto"   (or, on the host: sudo loginctl enable-linger <user>)',
}


def _no_systemd() -> Optional[str]:
    # Source: sd_booted(3).
    if not os.path.isdir("/run/systemd/system"):
        return "systemd does not run this host"
    told = command.run(["/usr/bin/env", "systemctl", "--version"], systemctl.ENVIRONMENT, _SECONDS)
    found = re.match(r"systemd (\d+)", told.stdout)
    if found is None:
        return f"systemctl does not tell its version ({systemctl.last_line(told)})"
    if int(found.group(1)) < _OLDEST_SYSTEMD:
        return f"systemd {found.group(1)} is too old, need {_OLDEST_SYSTEMD}"
    return None


def _file_system(path: Path) -> str:
    """Its type, as /proc/self/mountinfo names it; "" where that cannot be told."""
    best = ("", "")
    try:
        rows = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for row in rows:
        place, _dash, rest = row.partition(" - ")
        mount = place.split()[4].replace("\\040", " ")
        is_above = os.path.commonpath([mount, os.path.realpath(path)]) == mount
        if is_above and len(mount) >= len(best[0]):
            best = (mount, rest.split()[0])
    return best[1]


def _me() -> str:
    return accounts.name_of(os.getuid())
