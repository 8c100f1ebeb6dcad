"""Step overlay: the checkpoint with some files changed, as a folder of links. It is never written itself."""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path
from typing import Any

from agent import drift_overlay, overlay_use, paths, records
from agent.exchange import exchange
from agent.failure import AgentFailure

LEFT_OVER_SECONDS = 3600.0

_NAME = re.compile(r"[0-9a-z][0-9a-z-]{0,80}")
# Folders of _place, and records that records.write_text has not yet moved into place.
_LEFT_OVER = re.compile(r"\.(?:tmp-|.+\.json\.)(\d+)-[0-9a-f]+")


def build(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """Makes <stateRoot>/overlays/<name> be what the step says; {path, built}.

    An intact one is used as it is, a damaged one is replaced in one rename. Raises CHECKPOINT_NOT_FOUND and
    DISK_FULL.
    """
    name = _checked(step["name"])
    files = {_file_name(file): text for file, text in step["files"].items()}
    folder = paths.overlays_folder() / name
    with overlay_use.exclusive(server_id):
        overlay_use.note(server_id, name)
        remove_left_overs()
        links = _links(paths.expand(step["checkpointPath"]), files)
        built = not is_intact(folder, links, files)
        if built:
            _place(folder, links, files)
        record = {**step["record"], "contents": drift_overlay.contents(files, links)}
        if built or records.read_json(overlay_use.record_path(name)) != record:
            records.write_json(overlay_use.record_path(name), record)
    return {"path": str(folder), "built": built}


def is_intact(folder: Path, links: dict[str, str], files: dict[str, str]) -> bool:
    """Whether the folder holds exactly these links and these texts."""
    try:
        if folder.is_symlink() or set(os.listdir(folder)) != set(links) | set(files):
            return False
        if any(os.readlink(folder / name) != target for name, target in links.items()):
            return False
        return all(_holds(folder / name, text) for name, text in files.items())
    except (OSError, ValueError):
        return False


def remove_left_overs() -> None:
    """Half-built folders and half-written records of attempts that were cut: older than an hour, and their process is gone."""
    for entry in os.scandir(paths.overlays_folder()):
        found = _LEFT_OVER.fullmatch(entry.name)
        if found is None or os.path.isdir("/proc/" + found.group(1)):
            continue
        if time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT_OVER_SECONDS:
            overlay_use.discard(Path(entry.path))


def _links(checkpoint: Path, files: dict[str, str]) -> dict[str, str]:
    try:
        return {name: str(checkpoint / name) for name in os.listdir(checkpoint) if name not in files}
    except OSError as error:
        raise AgentFailure(
            "CHECKPOINT_NOT_FOUND",
            f"Cannot build an overlay of {checkpoint}: {error.strerror}, need a folder that can be read",
            change="model.path",
        ) from error


def _place(folder: Path, links: dict[str, str], files: dict[str, str]) -> None:
    aside = folder.with_name(".tmp-%d-%s" % (os.getpid(), secrets.token_hex(4)))
    try:
        with records.disk_failures("build overlay", folder):
            aside.mkdir(mode=0o700)
            for name, target in links.items():
                os.symlink(target, aside / name)
            for name, text in files.items():
                records.write_new(aside / name, text, 0o600)
            if os.path.lexists(folder):
                # A server that is starting from it never sees it missing.
                exchange(aside, folder)
            else:
                os.rename(aside, folder)
    finally:
        overlay_use.discard(aside)


def _holds(path: Path, text: str) -> bool:
    if path.is_symlink():
        return False
    with open(path, encoding="utf-8", newline="") as file:
        return file.read() == text


def _file_name(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise AgentFailure("AGENT_CRASHED", f"Cannot put {name!r} into an overlay: need a plain file name")
    return name


def _checked(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise AgentFailure(
            "AGENT_CRASHED", f"Cannot use overlay name {name!r}: need lower-case letters and digits"
        )
    return name
