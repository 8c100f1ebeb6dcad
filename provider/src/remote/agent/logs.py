"""logs/<generation>.log: every start has its own, the newest few are kept."""

from __future__ import annotations

from pathlib import Path

from agent import paths

KEPT = 5


def folder(server_id: str) -> Path:
    return paths.server_folder(server_id) / "logs"


def path(server_id: str, generation: int) -> Path:
    return folder(server_id) / f"{generation}.log"


def generations(server_id: str) -> list[int]:
    """Oldest first."""
    return sorted(int(entry.stem) for entry in folder(server_id).glob("*.log") if entry.stem.isdigit())


def keep_newest(server_id: str, count: int) -> None:
    found = generations(server_id)
    for generation in found[: max(0, len(found) - count)]:
        path(server_id, generation).unlink(missing_ok=True)
