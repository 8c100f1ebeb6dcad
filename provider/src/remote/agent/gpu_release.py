"""GPU memory after a stop: done only when every GPU is back where it was before the start."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from agent import events, gpu_seen, gpus, registry
from agent.failure import AgentFailure

_POLL_SECONDS = 0.5


def allowance_mib(baseline_mib: int) -> float:
    """How much more than before the start still counts as given back."""
    return max(64.0, baseline_mib * 0.02)


def wait_until_released(
    server_id: str, baseline_mib: Mapping[str, int], seconds: float, strangers_may_hold: bool
) -> dict[str, int]:
    """MiB in use per UUID of the baseline, once all are back; after `seconds` GPU_MEMORY_HELD with the holders.

    `strangers_may_hold`: nothing of ours lived when the stop began, so what others took since then, and show
    as theirs, is no business of this stop.
    """
    if not baseline_mib:
        return {}
    end = time.monotonic() + seconds
    is_told = False
    while True:
        used = {uuid: mib for uuid, mib in gpus.memory_used().items() if uuid in baseline_mib}
        held = [
            uuid for uuid, mib in used.items() if mib > baseline_mib[uuid] + allowance_mib(baseline_mib[uuid])
        ]
        if not held or (strangers_may_hold and _are_strangers(held, used, baseline_mib)):
            return used
        if time.monotonic() >= end:
            raise _failure(server_id, held, used, baseline_mib)
        if not is_told:
            amounts = _amounts(held, used, baseline_mib)
            events.emit({"event": "waiting", "reason": f"GPU memory to be given back: {amounts}"})
            is_told = True
        time.sleep(_POLL_SECONDS)


def _are_strangers(held: list[str], used: Mapping[str, int], baseline_mib: Mapping[str, int]) -> bool:
    """Whether what is used above the baseline is shown as other processes' on every one of these GPUs."""
    seen = gpus.query()[0] or []
    explained = {gpu["uuid"]: sum(holder["usedMib"] or 0 for holder in gpu["processes"]) for gpu in seen}
    return all(
        used[uuid] - explained.get(uuid, 0) <= baseline_mib[uuid] + allowance_mib(baseline_mib[uuid])
        for uuid in held
    )


def _failure(
    server_id: str, held: list[str], used: Mapping[str, int], baseline_mib: Mapping[str, int]
) -> AgentFailure:
    seen = gpu_seen.look(registry.load_all())[0] or []
    holders = [
        _holder(server_id, gpu["uuid"], one)
        for gpu in seen
        if gpu["uuid"] in held
        for one in gpu["processes"]
    ]
    return AgentFailure(
        "GPU_MEMORY_HELD",
        f"Cannot free the GPUs of {server_id}: {_amounts(held, used, baseline_mib)}",
        evidence="; ".join(holders)
        or "no process is shown for them: the driver itself, or another container",
        change="end the holder, then try again; when there is none: reset the GPU or restart the host",
        retryable=True,
    )


def _amounts(held: list[str], used: Mapping[str, int], baseline_mib: Mapping[str, int]) -> str:
    return ", ".join(f"{uuid} has {used[uuid]} MiB in use, need {baseline_mib[uuid]}" for uuid in held)


def _holder(server_id: str, uuid: str, holder: Mapping[str, Any]) -> str:
    if holder["serverId"] == server_id:
        whose = "ours"
    elif holder["serverId"] is not None:
        whose = f"of the server {holder['serverId']}"
    else:
        whose = "not ours"
    amount = "" if holder["usedMib"] is None else f"{holder['usedMib']} MiB, "
    return f"{uuid}: {amount}pid {holder['pid']} of {holder['user']} ({whose}): {holder['command']}"
