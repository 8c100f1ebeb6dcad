"""The sh script that a server's units call: log_bound.sh and unit.sh, with what this server needs to know set above them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import agent
from agent.start_plan import Plan


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
    return "\n".join([*lines, _file("log_bound.sh"), _file("unit.sh")])


def _file(name: str) -> str:
    """One beside this one, which travels with the agent."""
    loader = agent.__spec__.loader if agent.__spec__ is not None else None
    data: bytes = loader.get_data(os.path.join(os.path.dirname(str(agent.__file__)), name))  # type: ignore[union-attr]
    return data.decode("utf-8")
