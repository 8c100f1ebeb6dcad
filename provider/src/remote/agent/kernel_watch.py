"""Knows the processes of one start, the dead ones too, to tell what the kernel said of them when it fails."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Any, Callable, Optional

from agent import gpus, kernel_log, processes

# Asked seldom: it costs a look at every process of the host. What takes much memory lives longer than that.
_LOOK_SECONDS = 5.0
# "(EngineCore pid=9) ", "(APIServer pid=1) (Worker_TP0 pid=7) ". Source: vLLM 0.32.0 logger.py.
_PREFIX = re.compile(r"^\(\w+(?: [\w=]+)? pid=(\d+)\)", re.MULTILINE)


class KernelWatch:
    def __init__(self, launch: dict[str, Any], run: dict[str, Any]) -> None:
        leader = run.get("leader")
        self._pids: set[int] = set() if leader is None else {int(leader["pid"])}
        self._since = _since_boot(run.get("startedAt"))
        self._unit: Optional[str] = (run.get("unit") or {}).get("name")
        self._own_gpus = set(launch.get("gpuUuids") or [])
        self._looked_at = 0.0

    def hear(self, text: str) -> None:
        """Lines of the start's log: its processes name themselves there."""
        self._pids.update(map(int, _PREFIX.findall(text)))

    def look(self, members: Callable[[], list[processes.Process]]) -> None:
        if time.monotonic() - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._pids.update(member.pid for member in members())

    def told(self) -> dict[str, Any]:
        """{"kernel": lines}; [] of them: it is certain that nothing was said. {}: this account may not read it."""
        said = None if self._since is None else kernel_log.read(self._since)
        if said is None:
            return {}
        lines = kernel_log.about(said, self._pids, self._unit, self._strangers(said))
        # A process that was killed before anybody saw it, or one that has another number here, could be one of ours.
        is_certain = bool(lines) or (kernel_log.has_our_numbers() and not kernel_log.has_kill(said))
        return {"kernel": lines} if is_certain else {}

    def _strangers(self, lines: list[str]) -> set[str]:
        """GPUs that faults are told of and that are certainly none of this start."""
        told = kernel_log.devices(lines)
        if not told or not self._own_gpus:
            return set()
        others = {place_key(place) for uuid, place in gpus.places().items() if uuid not in self._own_gpus}
        return {device for device in told if place_key(device) in others}


def _since_boot(moment: Optional[str]) -> Optional[float]:
    """A moment of the wall clock (ISO 8601, UTC) in seconds since the boot; None: it is not known."""
    try:
        ago = time.time() - datetime.fromisoformat((moment or "").replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ago


def place_key(address: str) -> str:
    """ "0000:41:00" of "00000000:41:00.0" (nvidia-smi) and of "0000:41:00" (the kernel's log): domain, bus and device."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest.partition('.')[0]}"
