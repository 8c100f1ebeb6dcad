"""The sh script that a server's units call: log-bound.sh and unit.sh, with what this server needs to know set above them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import agent
from agent import command, paths, systemctl, unit_text
from agent.start_plan import Plan

_SECONDS = 15.0


def render(plan: Plan, folder: Path, service: str) -> str:
    settings = {
        "folder": folder,
        "temp": plan.temp,
        "unit": service,
        "port": plan.port,
        "restarts": plan.restart.max,
        "keep": plan.logs.keep,
        "log_bytes": plan.logs.max_bytes,
    }
    lines = [f"{name}={shlex.quote(str(value))}" for name, value in settings.items()]
    return "\n".join([*lines, _file("log-bound.sh"), _file("unit.sh")])


def note(server_id: str) -> None:
    """Has it note the shared memory of what runs now, and that it listens: the timer's first look can be far."""
    script = unit_text.script_path(paths.server_folder(server_id))
    command.run(["/bin/sh", str(script), "note"], systemctl.ENVIRONMENT, _SECONDS)


def _file(name: str) -> str:
    """One beside this one, which travels with the agent."""
    loader = agent.__spec__.loader if agent.__spec__ is not None else None
    data: bytes = loader.get_data(os.path.join(os.path.dirname(str(agent.__file__)), name))  # type: ignore[union-attr]
    return data.decode("utf-8")
