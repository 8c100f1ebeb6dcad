"""uv, which builds environments: found on the host, else fetched into a folder of our own."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from agent import command, executable, paths, uv_fetch

# Fetched where the host has none.
PINNED = "0.13.9"
# The first with --torch-backend and with UV_DEFAULT_INDEX. Source: uv's changelog, 0.6.9 and 0.4.23.
OLDEST = (0, 6, 9)
_ASK_SECONDS = 30.0
_VERSION = re.compile(r"^uv (\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True)
class Uv:
    path: str
    version: str


def find() -> Optional[Uv]:
    """The host's own where it is new enough (login PATH, where its installer puts it, beside vllm), else the one fetched before."""
    login = executable.login_environment()
    for path in dict.fromkeys(_places(login)):
        version = _version(path, login)
        if version is not None:
            return Uv(path, version)
    return None


def ensure(index_url: Optional[str], report: Callable[[dict[str, Any]], None]) -> Uv:
    """uv, fetched from the index if need be. Raises INSTALLER_MISSING where there is no way, INSTALL_FAILED where the way leads nowhere."""
    found = find()
    if found is not None:
        return found
    report({"phase": "install", "text": f"fetching uv {PINNED}, the host has none"})
    login = executable.login_environment()
    uv_fetch.fetch(PINNED, program_path().parent, index_url, login)
    version = _version(str(program_path()), login)
    if version is None:
        raise uv_fetch.missing(
            f"the uv {PINNED} that was fetched does not run on this machine", str(program_path())
        )
    return Uv(str(program_path()), version)


def program_path() -> Path:
    """<stateRoot>/tools/uv-<version>/uv, there or not."""
    return paths.state_root() / "tools" / f"uv-{PINNED}" / uv_fetch.PROGRAM


def drop() -> None:
    """Takes away the one that was fetched, and what a fetch that was killed has left."""
    tools = program_path().parent.parent
    for folder in [program_path().parent, *tools.glob(f".{program_path().parent.name}.*")]:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        tools.rmdir()


def _places(login: Mapping[str, str]) -> Iterator[str]:
    on_path = shutil.which("uv", path=login["PATH"])
    if on_path is not None:
        yield on_path
    # Source: uv's installer, and cargo's.
    yield str(paths.home() / ".local" / "bin" / "uv")
    yield str(paths.home() / ".cargo" / "bin" / "uv")
    vllm = shutil.which("vllm", path=login["PATH"])
    if vllm is not None:
        yield os.path.join(os.path.dirname(os.path.realpath(vllm)), "uv")
    yield str(program_path())


def _version(path: str, login: Mapping[str, str]) -> Optional[str]:
    """None: it is not there, does not run, or is too old."""
    if not os.access(path, os.X_OK):
        return None
    try:
        told = command.run([path, "--version"], dict(login), _ASK_SECONDS)
    except OSError:
        return None
    found = _VERSION.match(told.stdout)
    if told.code != 0 or found is None:
        return None
    numbers = tuple(int(number) for number in found.groups())
    return ".".join(map(str, numbers)) if numbers >= OLDEST else None
