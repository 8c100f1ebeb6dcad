"""Environments of vLLM that this tool has built: one per declaration, shared by the servers that declare the same."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, Optional

from agent import index_url, paths, records
from agent.failure import AgentFailure

_PREFIX = "environments/"
_NAME = re.compile(r"[0-9a-f]{16}")


def folder() -> Path:
    return paths.state_root() / "environments"


def path(name: str) -> Path:
    """Folder of one environment. Refuses a name that could lead out of `folder`."""
    if _NAME.fullmatch(name) is None:
        raise AgentFailure(
            "AGENT_CRASHED", f"Cannot use environment name {name!r}: need 16 hexadecimal digits"
        )
    return folder() / name


def executable_path(name: str) -> Path:
    return path(name) / "bin" / "vllm"


def python_path(name: str) -> Path:
    return path(name) / "bin" / "python"


def job_key(name: str) -> str:
    """Of the job that builds it."""
    return "install-" + name


def is_wish(executable: str) -> bool:
    """Whether an executable is wished by the name of an environment."""
    return executable.startswith(_PREFIX)


def name_of_wish(executable: str) -> str:
    return executable[len(_PREFIX) :]


def name_in(executable: object) -> str:
    """Name of the environment that the path of a vllm leads into; "" for any other."""
    parts = Path(str(executable)).parts
    below = len(folder().parts)
    is_below = parts[:below] == folder().parts and len(parts) > below
    return parts[below] if is_below and _NAME.fullmatch(parts[below]) else ""


def names() -> list[str]:
    """Whole ones and others, sorted."""
    try:
        return sorted(name for name in os.listdir(folder()) if _NAME.fullmatch(name))
    except OSError:
        return []


def find(name: str) -> dict[str, Any]:
    """ExecutableSeen of core/observed.ts, with the version that was built."""
    record = read(name)
    if record is None:
        return {"found": False, "reason": "it is not installed yet"}
    trouble = _trouble(name)
    if trouble is not None:
        return {"found": False, "reason": trouble}
    return {"found": True, "path": str(executable_path(name)), "version": record.get("version")}


def is_usable(name: str) -> bool:
    """Whole, and what it stands on is still there: the Python of the host can have been taken away since."""
    return read(name) is not None and _trouble(name) is None


def read(name: str) -> Optional[dict[str, Any]]:
    """complete.json, which is written last; None: it is not whole, or not there."""
    found = records.read_json(path(name) / "complete.json")
    return found if isinstance(found, dict) and isinstance(found.get("facts"), dict) else None


def complete(name: str, wish: dict[str, Any], facts: dict[str, Any], built_with: str, seconds: float) -> None:
    """From here on it is whole and never changed again."""
    shown = {
        "version": wish["version"],
        "packages": [index_url.without_login(package) for package in wish["packages"]],
        "indexUrl": index_url.without_login(wish["indexUrl"]) if wish["indexUrl"] else None,
        "extraIndexUrls": [index_url.without_login(url) for url in wish["extraIndexUrls"]],
        "python": wish["python"],
        "torchBackend": wish["torchBackend"],
    }
    records.write_json(
        path(name) / "complete.json",
        {
            "declaration": shown,
            "version": facts["version"],
            "facts": facts,
            "builtWith": built_with,
            "seconds": round(seconds, 1),
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    )


def _trouble(name: str) -> Optional[str]:
    for program in (executable_path(name), python_path(name)):
        if not os.access(program, os.X_OK):
            return f"{program} is gone or cannot be run any more: it is installed anew"
    return None
