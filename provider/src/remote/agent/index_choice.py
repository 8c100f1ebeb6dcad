"""Which package index the host is set up for. The tool itself knows none: uv and pip know their own."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from agent import paths

# Of uv, newest first. Source: uv 0.13 documentation, environment variables.
UV_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX")
_UV_FILES = (Path("/etc/uv/uv.toml"),)
# Source: pip 25 documentation, "Configuration": the later ones win.
_PIP_FILES = (Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf"))

_NAME = re.compile(r"^[A-Za-z0-9_.-]+=(?=[a-z]+:)")


def declared_or_configured(index_url: Optional[str], login: Mapping[str, str]) -> Optional[str]:
    """URL of the simple index for the installer itself; None where nothing tells of one."""
    for variable in UV_VARIABLES:
        if index_url is None and login.get(variable):
            # UV_INDEX is a list; each may have a name before it.
            index_url = _NAME.sub("", login[variable].split()[0])
    return index_url or of_pip(login)


def of_pip(login: Mapping[str, str]) -> Optional[str]:
    """PIP_INDEX_URL, else index-url of pip's configuration."""
    if login.get("PIP_INDEX_URL"):
        return login["PIP_INDEX_URL"]
    config = configparser.RawConfigParser(strict=False)
    for file in _pip_files(login):
        try:
            config.read_string(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, configparser.Error):
            continue
    for section in ("install", "global"):
        url = config.get(section, "index-url", fallback="").strip()
        if url:
            return url
    return None


def for_uv(
    index_url: Optional[str], extra_index_urls: Sequence[str], login: Mapping[str, str]
) -> dict[str, str]:
    """What uv is told by its environment, where other users of the host do not see it. What is set up for pip alone is meant for uv too."""
    told: dict[str, str] = {}
    if index_url is not None:
        told["UV_DEFAULT_INDEX"] = index_url
    elif not any(login.get(variable) for variable in UV_VARIABLES) and not _has_uv_file(login):
        configured = of_pip(login)
        if configured is not None:
            told["UV_DEFAULT_INDEX"] = configured
    if extra_index_urls:
        told["UV_INDEX"] = " ".join(extra_index_urls)
    return told


def _has_uv_file(login: Mapping[str, str]) -> bool:
    own = Path(login.get("XDG_CONFIG_HOME") or paths.home() / ".config") / "uv" / "uv.toml"
    return bool(login.get("UV_CONFIG_FILE")) or any(file.exists() for file in (own, *_UV_FILES))


def _pip_files(login: Mapping[str, str]) -> list[Path]:
    if login.get("PIP_CONFIG_FILE"):
        return [*_PIP_FILES, Path(login["PIP_CONFIG_FILE"])]
    config = Path(login.get("XDG_CONFIG_HOME") or paths.home() / ".config")
    return [*_PIP_FILES, paths.home() / ".pip" / "pip.conf", config / "pip" / "pip.conf"]
