"""logs/<generation>.log: every start has its own, the newest few are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from agent import paths


def folder(server_id: str) -> Path:
    return paths.server_folder(server_id) / "logs"


def path(server_id: str, generation: int) -> Path:
    return folder(server_id) / f"{generation}.log"


def generations(server_id: str) -> list[int]:
    """Oldest first."""
    return sorted(int(entry.stem) for entry in folder(server_id).glob("*.log") if entry.stem.isdigit())


def keep_newest(server_id: str, count: int, first_failure: Optional[int] = None) -> None:
    """Removes all but `count` logs: the newest, and among them the one that tells how a crash loop began."""
    found = generations(server_id)
    kept = set(found[max(0, len(found) - count) :])
    if count > 0 and first_failure in found and first_failure not in kept:
        kept = {first_failure, *sorted(kept)[1:]}
    for generation in found:
        if generation not in kept:
            path(server_id, generation).unlink(missing_ok=True)
