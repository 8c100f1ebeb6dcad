"""Processes of one control group of systemd."""

from __future__ import annotations

import os
from pathlib import Path

# A unified hierarchy, or systemd's own beside the old ones. Source: systemd, docs/CGROUP_DELEGATION.md.
_ROOTS = ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")


def pids(path: str) -> set[int]:
    """Of the group (as `systemctl show` names it, like "/system.slice/x.service") and of those below it."""
    if not path.startswith("/") or path == "/" or ".." in path.split("/"):
        return set()
    for root in _ROOTS:
        found = Path(root + path)
        if (found / "cgroup.procs").is_file():
            return _below(found)
    return set()


def _below(folder: Path) -> set[int]:
    found: set[int] = set()
    for place, _folders, files in os.walk(folder):
        if "cgroup.procs" in files:
            try:
                text = Path(place, "cgroup.procs").read_text(encoding="ascii")
            except OSError:
                continue  # the group ended this instant
            # 0: a process of another pid namespace, which has no number here.
            found |= {int(line) for line in text.split() if line != "0"}
    return found
