"""Processes that not even SIGKILL ends: what they are, where they hang, and what they keep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Optional

from agent import accounts, gpus, process_place, processes
from agent.failure import AgentFailure

_STATES = {
    "D": "waits in the kernel",
    "R": "runs in the kernel",
    "t": "is held by a debugger",
    "T": "is held by a signal",
}


def failure(server_id: str, left: Sequence[processes.Process]) -> AgentFailure:
    """STOP_INCOMPLETE for what still lives: never done, whatever the rest of the stop could do."""
    held, trouble = _held_gpus(left)
    foreign = [one for one in left if os.getuid() not in (0, one.uid)]
    told = [_describe(one, held.get(one.pid, [])) for one in left]
    count = "1 of its processes outlives" if len(left) == 1 else f"{len(left)} of its processes outlive"
    if len(foreign) == len(left):
        why, change = "another user's, which this one may not end", "end them as that user or as root"
    else:
        why = "needs a reboot or driver reset"
        change = (
            "a process that SIGKILL does not end sits in the kernel: reset the driver of its GPU "
            "(nvidia-smi --gpu-reset, with nothing else on that GPU) or restart the host, then try again"
        )
    return AgentFailure(
        "STOP_INCOMPLETE",
        f"Cannot stop {server_id}: {count} SIGKILL ({why}), need none",
        evidence="; ".join([*told, *([f"GPUs cannot be asked: {trouble}"] if trouble else [])]),
        change=change,
        retryable=True,
    )


def _describe(process: processes.Process, held: Sequence[str]) -> str:
    state, place = process_place.where(process)
    words = [f"pid {process.pid} of {accounts.name_of(process.uid)}", f"state {state}"]
    words += [_STATES[state] + (f" ({place})" if place else "")] if state in _STATES else []
    words += [f"holds {' and '.join(held)}"] if held else []
    return f"{', '.join(words)}: {process.command}"


def _held_gpus(left: Sequence[processes.Process]) -> tuple[dict[int, list[str]], Optional[str]]:
    """GPUs with their memory by pid, and why some cannot be told: a driver that hangs keeps processes and answers alike."""
    found, trouble = gpus.query()
    held: dict[int, list[str]] = {process.pid: [] for process in left}
    for gpu in found or []:
        for one in gpu["processes"]:
            if one["pid"] in held:
                amount = "" if one["usedMib"] is None else f" ({one['usedMib']} MiB)"
                held[one["pid"]].append(f"GPU {gpu['index']} {gpu['uuid']}{amount}")
    return held, trouble
