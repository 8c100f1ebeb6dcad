"""GPU memory after a stop: done only when every GPU is back where it was before the start."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Optional

from agent import events, gpu_seen, gpus, registry
from agent.failure import AgentFailure

_POLL_SECONDS = 0.5


def allowance_mib(baseline_mib: int) -> float:
    """How much more than before the start still counts as given back."""
    return max(64.0, baseline_mib * 0.02)


def wait_until_released(
    server_id: str, baseline_mib: Mapping[str, int], seconds: float, strangers_may_hold: bool
) -> dict[str, int]:
    """MiB in use per UUID of the baseline, once all are back; after `seconds` GPU_MEMORY_HELD with the holders, or
    with what keeps us from asking: a driver that does not answer proves nothing.

    What other servers of ours hold beside this one is theirs. `strangers_may_hold`: nothing of this one lived when
    the stop began, so what strangers took since then, and show as theirs, is no business of this stop either.
    """
    if not baseline_mib:
        return {}
    end = time.monotonic() + seconds
    is_told = False
    while True:
        everything, trouble = gpus.memory_used()
        used = {uuid: mib for uuid, mib in everything.items() if uuid in baseline_mib}
        unknown = [uuid for uuid in baseline_mib if uuid not in used] if trouble is not None else []
        held = [uuid for uuid, mib in used.items() if _is_above(mib, baseline_mib[uuid])]
        if held:
            explained = _explained(server_id, strangers_may_hold)
            held = [
                uuid for uuid in held if _is_above(used[uuid] - explained.get(uuid, 0), baseline_mib[uuid])
            ]
        if not held and not unknown:
            return used
        if time.monotonic() >= end:
            if held:
                raise _failure(server_id, held, used, baseline_mib)
            raise _unknown(server_id, unknown, trouble)
        if not is_told:
            amounts = _amounts(held, used, baseline_mib) or trouble
            events.emit({"event": "waiting", "reason": f"GPU memory to be given back: {amounts}"})
            is_told = True
        time.sleep(_POLL_SECONDS)


def _is_above(used_mib: int, baseline_mib: int) -> bool:
    return used_mib > baseline_mib + allowance_mib(baseline_mib)


def _explained(server_id: str, strangers_may_hold: bool) -> dict[str, int]:
    """MiB per UUID that the driver shows as held by processes which are no business of this stop."""
    seen = gpu_seen.look(registry.load_all())[0] or []
    return {
        gpu["uuid"]: sum(
            holder["usedMib"] or 0
            for holder in gpu["processes"]
            if holder["serverId"] != server_id and (strangers_may_hold or holder["serverId"] is not None)
        )
        for gpu in seen
    }


def _unknown(server_id: str, unknown: list[str], trouble: Optional[str]) -> AgentFailure:
    return AgentFailure(
        "GPU_MEMORY_HELD",
        f"Cannot tell whether the GPUs of {server_id} are free: {', '.join(unknown)} cannot be asked, need nvidia-smi"
        " to tell the memory in use",
        evidence=trouble,
        change="look at nvidia-smi on the host; when the driver does not come back: reset the GPU or restart the host",
        retryable=True,
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
    if holder["user"] is None:
        return (
            f"{uuid}: {amount}pid {holder['pid']}, which cannot be seen: gone by now, or of another container"
        )
    return f"{uuid}: {amount}pid {holder['pid']} of {holder['user']} ({whose}): {holder['command']}"
