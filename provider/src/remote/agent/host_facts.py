"""What the machine is and has: of core/observed.ts, `host`. Nothing but files and calls into the kernel, so that a refresh can afford it."""

from __future__ import annotations

import os
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any, Optional

from agent import accounts, paths, processes, records

# Of all processes of the group this one is in, where it has a group of its own: in a container.
# Source: the kernel's cgroup-v2.rst (the root group has no such file) and cgroup-v1/memory.rst (without a limit a number of 63 bits).
_MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_MEMORY_TABLE = "/proc/meminfo"
_LINGER = Path("/var/lib/systemd/linger")
_SHARED_MEMORY = "/dev/shm"


def look() -> dict[str, Any]:
    """None for what this host does not tell."""
    open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    total, available = _memory()
    me = accounts.name_of(os.getuid())
    return {
        "hostname": os.uname().nodename,
        "user": me,
        "uid": os.getuid(),
        "home": str(paths.home()),
        "bootId": processes.kernel_boot_id(),
        "stateRoot": str(paths.state_root()),
        "pythonVersion": "%d.%d.%d" % sys.version_info[:3],
        "diskFreeBytes": records.free_bytes(paths.state_root()),
        "shmFreeBytes": records.free_bytes(_SHARED_MEMORY),
        "shmTotalBytes": _size(_SHARED_MEMORY),
        "memoryTotalBytes": total,
        "memoryAvailableBytes": available,
        "processors": len(os.sched_getaffinity(0)),
        # Of this login; -1: without limit.
        "openFilesSoft": open_files[0],
        "openFilesHard": open_files[1],
        "lockedMemoryBytes": resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
        "clockSeconds": time.time(),
        "lingers": (_LINGER / me).exists() if os.path.isdir("/run/systemd/system") else None,
    }


def _memory() -> tuple[Optional[int], Optional[int]]:
    """(total, available) bytes; of a container what its limit leaves."""
    table = dict(re.findall(r"(?m)^(\w+): +(\d+) kB$", records.read_text(_MEMORY_TABLE) or ""))
    total, available = (
        int(table[name]) * 1024 if name in table else None for name in ("MemTotal", "MemAvailable")
    )
    texts = [(records.read_text(path) or "").strip() for path in _MEMORY_LIMITS]
    limits = [int(text) for text in texts if text.isdigit()]
    if total is not None:
        total = min([total, *limits])
    if total is not None and available is not None:
        available = min(total, available)
    return total, available


def _size(folder: str) -> Optional[int]:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_blocks * found.f_frsize
