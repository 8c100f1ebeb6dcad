"""Forks the supervisor of a server and hears from it how the start went."""

from __future__ import annotations

import json
import os
import select
from typing import Any, Optional

from agent import detach, logs, run_record
from agent.failure import AgentFailure
from agent.start_plan import Plan
from agent.supervisor import Supervisor

_HEAR_SECONDS = 60.0
# Linux keeps 15 characters of a process name.
_NAME_LENGTH = 15


def start(plan: Plan, previous: Optional[dict[str, Any]]) -> int:
    """Pid of vLLM's API server; it is on record then. Raises VLLM_NOT_FOUND when the kernel will not run it."""
    crash_log = logs.folder(plan.server_id) / "supervisor.log"
    name = f"{run_record.SUPERVISOR_NAME}{plan.server_id}"[:_NAME_LENGTH]
    hear = detach.detach(name, crash_log, lambda report: Supervisor(plan, previous).live(report))
    told = _hear(hear)
    if told is None:
        raise AgentFailure(
            "AGENT_CRASHED",
            f"Cannot start {plan.server_id}: its supervisor did not say within {_HEAR_SECONDS:.0f} s how that went",
            evidence=f"{crash_log} on the host, where it is there",
            retryable=True,
        )
    if "errno" in told:
        raise not_found(plan.command.executable, os.strerror(told["errno"]))
    if "failure" in told:
        raise AgentFailure(told["failure"]["code"], told["failure"]["summary"], retryable=True)
    return int(told["pid"])


def not_found(path: str, reason: str) -> AgentFailure:
    return AgentFailure(
        "VLLM_NOT_FOUND",
        f"Cannot run {path}: {reason}, need a vllm that can be executed",
        change="vllm.executable, or install vLLM again: its environment may have moved",
    )


def _hear(descriptor: int) -> Optional[dict[str, Any]]:
    """What the supervisor says about the start: it says it once. None: it died, or hangs."""
    with os.fdopen(descriptor, "rb") as pipe:
        readable, _, _ = select.select([pipe], [], [], _HEAR_SECONDS)
        text = pipe.read() if readable else b""
    try:
        return dict(json.loads(text))
    except ValueError:
        return None
