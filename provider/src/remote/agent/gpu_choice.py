"""Which GPUs a start gets. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from agent.failure import AgentFailure

# An idle GPU still shows some: ECC, persistence mode, a display server's few buffers.
IDLE_MIB = 1024


def choose(gpus: Sequence[dict[str, Any]], wish: dict[str, Any], held_by_us: set[str]) -> list[str]:
    """UUIDs for a wish (LaunchGpus of core/step.ts), in the order CUDA should see them.

    They are really free (nobody computes on them, idle memory, not reserved) or held by this server itself. A count
    gets preferred ones first, then by index; a list gets what it names, or nothing.
    Raises GPU_NOT_FOUND or GPUS_NOT_FREE; the latter names the holders.
    """
    if wish["kind"] == "none":
        return []
    if wish["kind"] == "list":
        named = _all_different([_resolve(gpus, wanted) for wanted in wish["ids"]], wish["ids"])
        return _all_free(gpus, named, held_by_us)
    count = int(wish["count"])
    if count > len(gpus):
        raise AgentFailure(
            "GPU_NOT_FOUND",
            "Cannot choose %d GPUs: the host has %d, need %d" % (count, len(gpus), count),
            change="gpus, engine.tensorParallelSize or engine.pipelineParallelSize",
        )
    free = [gpu["uuid"] for gpu in gpus if gpu["uuid"] in held_by_us or is_free(gpu)]
    preferred = [uuid for uuid in wish.get("prefer") or [] if uuid in free]
    order = preferred + [uuid for uuid in free if uuid not in preferred]
    if len(order) < count:
        taken = [describe(gpu) for gpu in gpus if gpu["uuid"] not in free]
        raise AgentFailure(
            "GPUS_NOT_FREE",
            "Cannot choose %d GPUs: %d of %d are free, need %d" % (count, len(order), len(gpus), count),
            evidence="; ".join(taken),
            change="free them, or name the GPUs to use: gpus: [...]",
            retryable=True,
        )
    index = {gpu["uuid"]: gpu["index"] for gpu in gpus}
    return sorted(order[:count], key=lambda uuid: index[uuid])


def is_free(gpu: dict[str, Any]) -> bool:
    """Whether nobody computes on it, nobody has it reserved and its memory is idle."""
    return not gpu["processes"] and not gpu.get("reservedBy") and gpu["memoryUsedMib"] <= IDLE_MIB


def describe(gpu: dict[str, Any]) -> str:
    """Like: "GPU 3: 71200 MiB used, python3 train.py (pid 4711, user bob), reserved by chat-0a1b2c3d"."""
    told = ["%d MiB used" % gpu["memoryUsedMib"]]
    for process in gpu["processes"]:
        user = "" if process.get("user") is None else f", user {process['user']}"
        told.append("%s (pid %d%s)" % (process.get("command") or "a process", process["pid"], user))
    if gpu.get("reservedBy"):
        told.append(f"reserved by {gpu['reservedBy']}")
    return "GPU %d: %s" % (gpu["index"], ", ".join(told))


def _all_different(uuids: list[str], ids: Sequence[Union[int, str]]) -> list[str]:
    """CUDA shows no GPU at all to a process that is given one twice."""
    if len(set(uuids)) == len(uuids):
        return uuids
    twice = next(uuid for uuid in uuids if uuids.count(uuid) > 1)
    named = " and ".join(str(one) for one, uuid in zip(ids, uuids) if uuid == twice)
    raise AgentFailure(
        "GPU_NOT_FOUND",
        f"Cannot use GPUs {named} beside each other: they are one ({twice}), need different ones",
        change="gpus",
    )


def _all_free(gpus: Sequence[dict[str, Any]], uuids: list[str], held_by_us: set[str]) -> list[str]:
    """The client looked before it asked; since then another start can have taken one."""
    taken = [
        gpu for gpu in gpus if gpu["uuid"] in uuids and gpu["uuid"] not in held_by_us and not is_free(gpu)
    ]
    if not taken:
        return uuids
    raise AgentFailure(
        "GPUS_NOT_FREE",
        "Cannot use GPU %s: not free, need them free" % ", ".join(str(gpu["index"]) for gpu in taken),
        evidence="; ".join(map(describe, taken)),
        change="free them, or name other GPUs: gpus: [...]",
        retryable=True,
    )


def _resolve(gpus: Sequence[dict[str, Any]], wanted: Union[int, str]) -> str:
    text = str(wanted)
    if text.startswith("MIG-"):
        return text  # nvidia-smi's table of GPUs does not list slices
    if text.isdigit():
        found = [gpu["uuid"] for gpu in gpus if gpu["index"] == int(text)]
    else:
        found = [gpu["uuid"] for gpu in gpus if gpu["uuid"].startswith(text)]
    if len(found) == 1:
        return str(found[0])
    there = ", ".join("%d (%s)" % (gpu["index"], gpu["uuid"]) for gpu in gpus) or "none"
    raise AgentFailure(
        "GPU_NOT_FOUND", f"Cannot use GPU {text}: the host has {there}, need one of them", change="gpus"
    )
