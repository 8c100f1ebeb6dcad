"""Where things stand on the host. Pure: nothing is created here."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from agent.failure import AgentFailure

# The ZMQ sockets of vLLM are <TMPDIR>/<uuid4>; a socket path holds 107 characters.
# Source: vLLM 0.32.0, zmq.error.ZMQError "ipc path ... is longer than 107 characters".
LONGEST_TEMP_FOLDER = 70

_SERVER_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")


def home() -> Path:
    """The user's home folder: HOME, else what the user database says."""
    return Path(os.path.expanduser("~"))


def state_root() -> Path:
    """~/.local/state/pulumi-vllm, mode 0700 once it exists."""
    return home() / ".local" / "state" / "pulumi-vllm"


def server_folder(server_id: str) -> Path:
    """State of one server. Refuses an id that could lead out of the state root."""
    if _SERVER_ID.fullmatch(server_id) is None:
        raise AgentFailure(
            "AGENT_CRASHED", f"Cannot use server id {server_id!r}: need lower-case letters, digits and -"
        )
    return state_root() / server_id


def overlays_folder() -> Path:
    return state_root() / "overlays"


def flags_folder() -> Path:
    return state_root() / "flags"


def temp_folder(server_id: str) -> Path:
    """TMPDIR of the server's vLLM: <its folder>/tmp, or a short one under /tmp when that is too long.

    The hash is of the server's whole folder, so two homes of one user id never share it.
    """
    inside = server_folder(server_id) / "tmp"
    if len(os.fsencode(str(inside))) <= LONGEST_TEMP_FOLDER:
        return inside
    digest = hashlib.sha256(os.fsencode(str(inside))).hexdigest()[:8]
    return Path("/tmp") / ("pvllm-%d-%s" % (os.getuid(), digest))


def expand(path: str) -> Path:
    """Absolute path of what a user wrote: ~ and ~user expanded, relative ones from the home folder."""
    return Path(os.path.normpath(os.path.join(str(home()), os.path.expanduser(path))))
