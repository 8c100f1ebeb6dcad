"""What stands in the state root is acted on, so nobody else may write there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agent import accounts, paths
from agent.failure import AgentFailure

_WRITABLE_BY_OTHERS = 0o022


def demand_private() -> None:
    """Raises PERMISSION_DENIED for a state root of another user, or one that others may write in. A link to a
    folder that is ours is fine, and so is a root that is not there yet: it is made 0700. Whether it is there
    has to be certain: a home that is not mounted looks like one without servers."""
    root = paths.state_root()
    for folder in (paths.home(), root.parent.parent, root.parent):
        if not _is_there(folder, must_be=folder == paths.home()):
            return
    if not _is_there(root, must_be=False):
        return
    found = os.stat(root)
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


def _is_there(folder: Path, must_be: bool) -> bool:
    try:
        mode = os.stat(folder).st_mode
    except FileNotFoundError:
        if not must_be and not folder.is_symlink():
            return False
        found = "is not there" if not folder.is_symlink() else "is a link that leads nowhere"
    except OSError as error:
        found = f"cannot be looked at ({error.strerror})"
    else:
        if stat.S_ISDIR(mode):
            return True
        found = "is no folder"
    raise AgentFailure(
        "PERMISSION_DENIED",
        f"Cannot use the state folder {paths.state_root()}: {folder} {found}, need a folder of this account",
        change="on the host: mount or make the folder, or correct the home folder of this account",
    )


def _refusal(found: str, change: str) -> AgentFailure:
    return AgentFailure(
        "PERMISSION_DENIED", f"Cannot trust the state folder {paths.state_root()}: {found}", change=change
    )
