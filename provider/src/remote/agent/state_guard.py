"""What stands in the state root is acted on, so nobody else may write there."""

from __future__ import annotations

import os

from agent import accounts, paths
from agent.failure import AgentFailure

_WRITABLE_BY_OTHERS = 0o022


def demand_private() -> None:
    """Raises PERMISSION_DENIED for a state root of another user, or one that others may write in. A link to a
    folder that is ours is fine, and so is a root that is not there yet: it is made 0700."""
    root = paths.state_root()
    try:
        found = os.stat(root)
    except OSError:
        return
    me = accounts.name_of(os.getuid())
    if found.st_uid != os.getuid():
        raise _refusal(
            f"it belongs to {accounts.name_of(found.st_uid)}, need a folder of {me}",
            f"find out who made it, and move it away on the host: mv {root} {root}.foreign",
        )
    if found.st_mode & _WRITABLE_BY_OTHERS:
        raise _refusal(
            f"others may write in it (mode {found.st_mode & 0o7777:04o}), need mode 0700",
            f"make sure that all in it is of {me}, then on the host: chmod 700 {root}",
        )


def _refusal(found: str, change: str) -> AgentFailure:
    return AgentFailure(
        "PERMISSION_DENIED", f"Cannot trust the state folder {paths.state_root()}: {found}", change=change
    )
