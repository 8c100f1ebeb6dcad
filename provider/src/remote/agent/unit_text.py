"""Text of the systemd units of one server. Pure.

The service runs vLLM itself; what it needs beside that is a script of sh in the server's folder (unit.sh).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from agent import unit_names
from agent.start_plan import Plan

# vLLM's engine and workers need 6 to 8 s after the drain. Source: vLLM 0.32.0, measured.
_TEARDOWN_SECONDS = 15
_WATCH_SECONDS = 30


@dataclass(frozen=True)
class Place:
    """Where the units belong."""

    folder: Path
    is_user_unit: bool
    # Whom a system unit runs as; None: as the owner of the user manager.
    user: Optional[str]


def environment_path(folder: Path) -> Path:
    """0600: secrets stand in it."""
    return folder / "environment"


def script_path(folder: Path) -> Path:
    return folder / "units" / "unit.sh"


def render(plan: Plan, place: Place) -> dict[str, str]:
    """Text by the name of the unit."""
    service, timer, watch = unit_names.all_of(plan.server_id)
    return {
        service: _lines(_service(plan, place, timer)),
        timer: _lines(_timer(plan, service)),
        watch: _lines(_watch(plan, place)),
    }


def _service(plan: Plan, place: Place, timer: str) -> list[str]:
    folder = place.folder
    script = _script(folder)
    network = [] if place.is_user_unit else ["Wants=network-online.target", "After=network-online.target"]
    return [
        "# Written by pulumi-vllm. `pulumi refresh` sees what is changed here, `pulumi up` writes it anew.",
        "[Unit]",
        f"Description=vLLM server {_plain(plan.title)}, managed by pulumi-vllm",
        "Documentation=https://docs.vllm.ai/en/latest/cli/serve.html",
        f"Wants={timer}",
        *network,
        f"RequiresMountsFor={_word(str(folder))}",
        # The first start is one of them.
        f"StartLimitIntervalSec={plan.restart.within_seconds:g}",
        f"StartLimitBurst={plan.restart.max + 1}",
        "",
        "[Service]",
        "Type=exec",
        *([] if place.user is None else [f"User={_plain(place.user)}"]),
        "WorkingDirectory=/",
        f"EnvironmentFile={_plain(str(environment_path(folder)))}",
        f"UMask={plan.command.umask:04o}",
        "TasksMax=infinity",
        # Pinned memory and RDMA; a user manager cannot give more than it has.
        *([] if place.is_user_unit else ["LimitMEMLOCK=infinity"]),
        f"ExecCondition={script} allowed",
        f"ExecStartPre={script} prepare",
        "ExecStart="
        + " ".join([_word(plan.command.executable), *(_argument(word) for word in plan.command.arguments)]),
        # What it does is not worth a start that fails.
        f"ExecStartPost=-{script} starting",
        f"ExecStopPost={script} ended",
        f"StandardOutput=append:{_plain(str(folder / 'logs' / 'current.log'))}",
        "StandardError=inherit",
        # vLLM ends with 0 when its engine dies.
        f"Restart={'always' if plan.restart.max > 0 else 'no'}",
        f"RestartSec={plan.restart.delay_seconds:g}",
        # SIGTERM to the API server alone: engine and workers would end in the middle of the drain.
        "KillMode=mixed",
        f"TimeoutStopSec={plan.drain_seconds + _TEARDOWN_SECONDS:g}",
        "",
        "[Install]",
        f"WantedBy={'default.target' if place.is_user_unit else 'multi-user.target'}",
    ]


def _timer(plan: Plan, service: str) -> list[str]:
    return [
        "[Unit]",
        f"Description=Looks after the vLLM server {_plain(plan.title)}",
        # A user's basic.target waits for timers.target: with the usual dependencies that would be a circle, which the user manager
        # breaks at boot by leaving the service out. Source: systemd 252, user/basic.target.
        "DefaultDependencies=no",
        f"PartOf={service}",
        f"After={service}",
        "",
        "[Timer]",
        "OnActiveSec=15",
        f"OnUnitActiveSec={_WATCH_SECONDS}",
        "AccuracySec=1",
    ]


def _watch(plan: Plan, place: Place) -> list[str]:
    return [
        "[Unit]",
        f"Description=Notes shared memory and bounds the log of the vLLM server {_plain(plan.title)}",
        "",
        "[Service]",
        "Type=oneshot",
        *([] if place.user is None else [f"User={_plain(place.user)}"]),
        f"ExecStart={_script(place.folder)} watch",
    ]


def _lines(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _script(folder: Path) -> str:
    return f"/bin/sh {_argument(str(script_path(folder)))}"


def _argument(text: str) -> str:
    return f'"{_escaped(text)}"'


def _word(text: str) -> str:
    """One word where no variables are looked for: of a list, or the program of a command line."""
    return f'"{_escaped(text)}"'.replace("$$", "$")


def _escaped(text: str) -> str:
    """For within double quotes of a command line. Source: systemd.service(5), "Command lines"; systemd.unit(5), specifiers."""
    for character, safe in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("%", "%%"), ("$", "$$")):
        text = text.replace(character, safe)
    return text


def _plain(text: str) -> str:
    """For a setting that is no command line: specifiers are looked for, and a line break would begin another setting."""
    return " ".join(text.split("\n")).replace("%", "%%")
