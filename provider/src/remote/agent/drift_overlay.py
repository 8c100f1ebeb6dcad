"""The overlay a server serves, against what was put into it: an overlay is never written again, so what differs was changed
by another hand."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Optional

from agent import drift_config, overlay_use, paths, records
from agent.registry import Server

# Files of it are JSON texts of some kilobytes; what is bigger is none of ours.
_LARGEST_BYTES = 16 << 20


def contents(files: dict[str, str], links: dict[str, str]) -> dict[str, Any]:
    """What `look` compares with; kept in the overlay's record."""
    return {
        "sha256": {name: _digest(text.encode("utf-8")) for name, text in sorted(files.items())},
        "links": dict(sorted(links.items())),
    }


def look(server: Server) -> list[dict[str, Any]]:
    """{file, kind, isRead} of each entry that is not as it was made; [] where nothing runs, or no overlay is served.

    `kind`: "changed", "missing", "added", or "redirected" for a link that leads elsewhere or became a file. `isRead`: it
    was so when the running process began.
    """
    began = drift_config.began_at(server)
    folder = Path(str((server.launch or {}).get("modelPath", "")))
    if began is None or folder.parent != paths.overlays_folder():
        return []
    made = records.read_json(overlay_use.record_path(folder.name))
    made = made.get("contents") if isinstance(made, dict) else None
    if not isinstance(made, dict) or not all(
        isinstance(made.get(name), dict) for name in ("sha256", "links")
    ):
        return []
    return [
        {"file": name, "kind": kind, "isRead": drift_config.changed_at(str(folder / name)) <= began}
        for name, kind in sorted(_differing(folder, made["sha256"], made["links"]).items())
    ]


def _differing(folder: Path, files: dict[str, Any], links: dict[str, Any]) -> dict[str, str]:
    try:
        there = set(os.listdir(folder))
    except OSError:
        there = set()
    differing = dict.fromkeys(there - files.keys() - links.keys(), "added")
    differing.update((name, "missing") for name in (files.keys() | links.keys()) - there)
    for name in there & files.keys():
        if _content(folder / name) != files[name]:
            differing[name] = "changed"
    for name in there & links.keys():
        if _target(folder / name) != links[name]:
            differing[name] = "redirected"
    return differing


def _content(path: Path) -> Optional[str]:
    """None for what is no plain file of a size that can be ours."""
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST_BYTES:
            return None
        return _digest(path.read_bytes())
    except OSError:
        return None


def _target(path: Path) -> Optional[str]:
    try:
        return os.readlink(path)
    except OSError:
        return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
