"""systemctl, for the system's units or for those of this user. Every call ends by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from agent import command
from agent.failure import AgentFailure

_SHOW_SECONDS = 15.0
_CHANGE_SECONDS = 120.0
# For programs of the system, whose words are read.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


@dataclass(frozen=True)
class Scope:
    """Whose units: the system's, changed through sudo where this user is not root, or this user's."""

    is_user: bool


SYSTEM = Scope(is_user=False)
USER = Scope(is_user=True)


def show(scope: Scope, units: Sequence[str], properties: Sequence[str]) -> list[dict[str, str]]:
    """The properties of each unit as systemd tells them, in order. Raises SERVICE_MANAGER_FAILED.

    Needs no rights. Of a unit that systemd does not know, LoadState is "not-found".
    """
    told = _run(
        scope,
        ["systemctl", *_options(scope), "show", f"--property={','.join(properties)}", "--", *units],
        _SHOW_SECONDS,
    )
    if told.code != 0:
        raise failed("look at", ", ".join(units), told)
    blocks = told.stdout.rstrip("\n").split("\n\n")
    if len(blocks) != len(units):
        raise failed("look at", ", ".join(units), told)
    return [dict(_pair(line) for line in block.splitlines() if "=" in line) for block in blocks]


def change(scope: Scope, *words: str) -> command.Outcome:
    """`systemctl <words>` with the rights that it needs; the caller looks at how it ended."""
    return as_owner(scope, ["systemctl", *_options(scope), *words], _CHANGE_SECONDS)


def as_owner(scope: Scope, words: Sequence[str], seconds: float = _SHOW_SECONDS) -> command.Outcome:
    """Runs a program with the rights of whoever owns the units."""
    is_enough = scope.is_user or os.getuid() == 0
    return _run(scope, words if is_enough else ["sudo", "-n", "--", *words], seconds)


def failed(verb: str, what: str, told: command.Outcome) -> AgentFailure:
    found = "it does not answer" if told.code is None else f"it answers {told.code}"
    return AgentFailure(
        "SERVICE_MANAGER_FAILED",
        f"Cannot {verb} {what}: systemd was asked, and {found}",
        evidence=last_line(told) or None,
        change="service.manager, or what systemd tells of it on the host: systemctl status, journalctl -u",
        retryable=True,
    )


def last_line(told: command.Outcome) -> str:
    lines = [line.strip() for line in (told.stderr + "\n" + told.stdout).splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _options(scope: Scope) -> list[str]:
    return ["--no-ask-password", "--no-pager", *(["--user"] if scope.is_user else [])]


def _pair(line: str) -> tuple[str, str]:
    name, _sign, value = line.partition("=")
    return name, value


def _run(scope: Scope, words: Sequence[str], seconds: float) -> command.Outcome:
    environment = dict(ENVIRONMENT)
    if scope.is_user:
        # A command over SSH is no login everywhere, and only a login sets it.
        environment["XDG_RUNTIME_DIR"] = f"/run/user/{os.getuid()}"
    try:
        return command.run(["/usr/bin/env", *words], environment, seconds)
    except OSError as error:
        return command.Outcome(127, "", os.strerror(error.errno or 0))
