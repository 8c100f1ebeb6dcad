"""Whether what is missing of a checkpoint fits on the disk; if not, what of the cache nobody uses. Deletes nothing."""

from __future__ import annotations

import os
from pathlib import Path

from agent import checkpoint_use, records
from agent.failure import AgentFailure
from agent.hub_blob import size_of
from agent.hub_cache import Snapshot

# Beside the weights: the first start compiles kernels into ~/.cache, usually on the same disk (some 100 MB), and
# logs and records have to be written while the download runs.
MARGIN_BYTES = 512 * 1024 * 1024
LISTED = 8


def demand(snapshot: Snapshot, missing_bytes: int, title: str) -> None:
    """Raises DISK_FULL unless that many bytes and the margin fit. Nothing missing always fits."""
    free = records.free_bytes(snapshot.cache)
    short = missing_bytes + MARGIN_BYTES - free
    if missing_bytes == 0 or short <= 0:
        return
    left_over = unreferenced(snapshot.cache)
    told = [f"{place} ({told_size(size)})" for place, size in left_over[:LISTED]]
    more = [f"and {len(left_over) - LISTED} more"] if len(left_over) > LISTED else []
    raise AgentFailure(
        "DISK_FULL",
        f"Cannot download {title} to {snapshot.cache}: {missing_bytes} bytes are missing and {free} are free, "
        f"need {short} bytes ({told_size(short)}) more ({told_size(MARGIN_BYTES)} stay free)",
        evidence="cached revisions that no server here uses: " + "; ".join([*told, *more]) if told else None,
        change="free space there, set model.cacheDir to a larger disk"
        + (", or remove cached revisions that are not needed" if told else ""),
        retryable=True,
    )


def unreferenced(cache: Path) -> list[tuple[str, int]]:
    """Cached revisions that no server or overlay of this state root uses: folder and bytes that only it has, largest first."""
    uses = {use.path for use in checkpoint_use.uses()}
    # The folder of a file in use, and a folder that is used as a whole.
    used = {os.path.realpath(place) for path in uses for place in (path, os.path.dirname(path))}
    found: list[tuple[str, int]] = []
    for repo in sorted(cache.glob("models--*")):
        blobs = {folder: _blobs(folder) for folder in sorted((repo / "snapshots").glob("*"))}
        for folder, own in blobs.items():
            place = os.path.realpath(folder)
            if any(path == place or path.startswith(place + os.sep) for path in used):
                continue
            elsewhere = {blob for other, theirs in blobs.items() if other != folder for blob in theirs}
            found.append((str(folder), sum(size for blob, size in own.items() if blob not in elsewhere)))
    return sorted(found, key=lambda entry: -entry[1])


def told_size(count: int) -> str:
    """Like "1.5 GB"; decimal, as disks are sold."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit in ("bytes", "kB") else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _blobs(folder: Path) -> dict[str, int]:
    found = {}
    for place, _folders, names in os.walk(folder):
        for name in names:
            path = os.path.realpath(os.path.join(place, name))
            size = size_of(Path(path))
            if size is not None:
                found[path] = size
    return found
