"""Where the hub is and who we are there, when the declaration leaves it open: as the hub's own client decides it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Optional
from urllib.parse import urlsplit

from agent import command, paths
from agent.failure import AgentFailure

CLIENT_DEADLINE_SECONDS = 30.0

# It heeds HF_ENDPOINT itself. Source: huggingface_hub 2.4.0, constants.py.
_ASK_CLIENT = "from huggingface_hub import constants; print(constants.ENDPOINT)"
_YES = ("1", "ON", "YES", "TRUE")


def endpoint(declared: Optional[str], login: Mapping[str, str], client: Optional[str]) -> str:
    """URL of the hub without a slash at its end: declared, HF_ENDPOINT, or the default of the client (path of its `hf`).

    Raises INPUT_INVALID and HUB_UNREACHABLE.
    """
    url = declared or login.get("HF_ENDPOINT") or (None if client is None else _default_of(client, login))
    if url is None:
        raise AgentFailure(
            "HUB_UNREACHABLE",
            "Cannot tell which hub to ask: the hub's client on this host does not say, need an endpoint",
            change="set model.endpoint, or HF_ENDPOINT in the host's login environment",
        )
    url = url.strip().rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        place = "model.endpoint" if declared else "HF_ENDPOINT"
        raise AgentFailure(
            "INPUT_INVALID", f"Cannot ask the hub of {place}: it is no URL, need http:// or https://"
        )
    return url


def token(declared: Optional[str], login: Mapping[str, str]) -> Optional[str]:
    """Declared, HF_TOKEN, or the file that `hf auth login` wrote; None: there is none, or it may not be sent unasked."""
    if declared:
        return declared
    if login.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").upper() in _YES:
        return None
    # Source: huggingface_hub 2.4.0, utils/_auth.py.
    told = login.get("HF_TOKEN") or login.get("HUGGING_FACE_HUB_TOKEN")
    if not told:
        try:
            told = _token_file(login).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
    return told.replace("\r", "").replace("\n", "").strip() or None


def _token_file(login: Mapping[str, str]) -> Path:
    if login.get("HF_TOKEN_PATH"):
        return paths.expand(login["HF_TOKEN_PATH"])
    if login.get("HF_HOME"):
        return paths.expand(login["HF_HOME"]) / "token"
    cache = paths.expand(login.get("XDG_CACHE_HOME") or "~/.cache")
    return cache / "huggingface" / "token"


def _default_of(client: str, login: Mapping[str, str]) -> Optional[str]:
    # A link to it (uv tool, pipx) has no Python beside it; the client itself has.
    python = os.path.join(os.path.dirname(os.path.realpath(client)), "python3")
    try:
        told = command.run([python, "-c", _ASK_CLIENT], dict(login), CLIENT_DEADLINE_SECONDS)
    except OSError:
        return None
    return told.stdout.strip() or None if told.code == 0 else None
