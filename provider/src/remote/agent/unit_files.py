"""Where the unit files of a server are: as systemd reads them, and as they were installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from agent import paths, systemctl, unit_names


def folder(scope: systemctl.Scope) -> Path:
    if not scope.is_user:
        return Path("/etc/systemd/system")
    return paths.home() / ".config" / "systemd" / "user"


def copies(server_id: str) -> Path:
    """What was installed, to tell whether somebody changed it since."""
    return paths.server_folder(server_id) / "units"


def overrides(scope: systemctl.Scope, server_id: str) -> Path:
    """`systemctl edit` puts its changes beside the unit."""
    return folder(scope) / (unit_names.service(server_id) + ".d")


def is_there(scope: systemctl.Scope, server_id: str) -> bool:
    return any(os.path.lexists(folder(scope) / name) for name in unit_names.all_of(server_id))


def is_edited(scope: systemctl.Scope, server_id: str) -> bool:
    """Whether what systemd reads is not what was installed."""
    return os.path.lexists(overrides(scope, server_id)) or any(
        text(copies(server_id) / name) != text(folder(scope) / name) for name in unit_names.all_of(server_id)
    )


def text(path: Path) -> Optional[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
