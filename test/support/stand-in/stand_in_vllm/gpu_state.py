"""The GPUs a test pretends to have, and who holds memory on them. Shared by the vllm and the nvidia-smi stand-in."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass

# nvidia-smi's own figures for the box of the incident.
DEFAULT_NAME = "NVIDIA RTX PRO 6000 Blackwell Server Edition"
DEFAULT_MEMORY_MIB = 97887
DEFAULT_CAPABILITY = "12.0"
DEFAULT_DRIVER = "580.95.05"


@dataclass(frozen=True)
class Gpu:
    index: int
    uuid: str
    name: str
    memory_mib: int
    compute_capability: str
    # "00000000:41:00.0"
    bus_id: str
    is_persistent: bool
    compute_mode: str
    is_mig: bool
    uncorrected_errors: int
    is_remap_pending: bool
    has_remap_failed: bool


@dataclass(frozen=True)
class Machine:
    gpus: list[Gpu]
    driver: str
    state: str
    # Fields of queries that this driver is too old for.
    unknown_fields: frozenset[str]


@dataclass(frozen=True)
class Grant:
    """Memory that a live process holds."""

    pid: int
    uuid: str
    mib: int


def default_state() -> str:
    return f"/tmp/stand-in-gpus-{os.getuid()}"


def read_machine(folder: str | None) -> Machine:
    """gpus.json of `folder`: {count?, gpus?: [{uuid?, name?, memoryMib?, computeCapability?, busId?, isPersistent?, computeMode?, isMig?,
    uncorrectedErrors?, isRemapPending?, hasRemapFailed?}], driver?, state?, unknownFields?}."""
    config: dict[str, object] = {}
    path = os.path.join(folder, "gpus.json") if folder else ""
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    rows = config.get("gpus")
    if not isinstance(rows, list):
        count = config.get("count", 8)
        rows = [{}] * (count if isinstance(count, int) else 8)
    gpus = [
        Gpu(
            index=index,
            uuid=row.get("uuid", f"GPU-5ca1ab1e-0000-4000-8000-{index:012x}"),
            name=row.get("name", DEFAULT_NAME),
            memory_mib=row.get("memoryMib", DEFAULT_MEMORY_MIB),
            compute_capability=row.get("computeCapability", DEFAULT_CAPABILITY),
            bus_id=row.get("busId", f"00000000:{0x41 + index:02X}:00.0"),
            is_persistent=row.get("isPersistent", True),
            compute_mode=row.get("computeMode", "Default"),
            is_mig=row.get("isMig", False),
            uncorrected_errors=row.get("uncorrectedErrors", 0),
            is_remap_pending=row.get("isRemapPending", False),
            has_remap_failed=row.get("hasRemapFailed", False),
        )
        for index, row in enumerate(rows)
    ]
    state = os.environ.get("STAND_IN_GPU_STATE") or config.get("state") or default_state()
    unknown = config.get("unknownFields")
    return Machine(
        gpus=gpus,
        driver=str(config.get("driver", DEFAULT_DRIVER)),
        state=str(state),
        unknown_fields=frozenset(unknown if isinstance(unknown, list) else ()),
    )


def visible(machine: Machine, wish: str | None) -> list[Gpu]:
    """CUDA_VISIBLE_DEVICES: UUIDs (a unique beginning is enough) or indexes, up to the first that does not exist."""
    if wish is None:
        return machine.gpus
    chosen: list[Gpu] = []
    for word in (part.strip() for part in wish.split(",")):
        found = [
            gpu
            for gpu in machine.gpus
            if (gpu.uuid.startswith(word) if word.startswith("GPU-") else str(gpu.index) == word)
        ]
        if len(found) != 1:
            break
        chosen.append(found[0])
    return chosen


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def grant(state: str, uuid: str, mib: int, pid: int | None = None) -> None:
    """Records that `pid` (this process) holds memory; it counts as long as the process lives."""
    pid = os.getpid() if pid is None else pid
    os.makedirs(state, exist_ok=True)
    path = os.path.join(state, f"{pid}-{uuid}.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"pid": pid, "startTicks": start_ticks(pid), "uuid": uuid, "mib": mib}, file)
    os.replace(path + ".new", path)


def live_grants(state: str) -> list[Grant]:
    """Grants whose process still lives; files of dead ones are removed."""
    try:
        names = sorted(name for name in os.listdir(state) if name.endswith(".json"))
    except OSError:
        return []
    grants: list[Grant] = []
    for name in names:
        path = os.path.join(state, name)
        try:
            with open(path, encoding="utf-8") as file:
                row = json.load(file)
        except (OSError, ValueError):
            continue
        if start_ticks(row["pid"]) == row["startTicks"]:
            grants.append(Grant(row["pid"], row["uuid"], row["mib"]))
        else:
            _remove(path)
    return grants


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def used_mib(grants: list[Grant], uuid: str) -> int:
    return sum(held.mib for held in grants if held.uuid == uuid)
