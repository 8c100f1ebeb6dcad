"""The work of building one environment, as a job that outlives SSH: whatever cuts it off, it is done again from nothing."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from typing import Any

from agent import (
    disk_flush,
    environment_check,
    environments,
    executable,
    index_choice,
    index_url,
    install_failure,
    job,
    paths,
    records,
    side_by_side,
    uv_run,
    uv_tool,
)

Report = Callable[[dict[str, Any]], None]

# Oldest that any vLLM of these years takes; what a version really needs, its metadata tell. uv fetches one where the host has none.
# Source: vLLM 0.6 to 0.32, Requires-Python.
_PYTHON = ">=3.10"
# Of a shell that has another environment active.
_OF_OTHERS = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "PYTHONHOME",
    "UV_PYTHON",
    "UV_PROJECT_ENVIRONMENT",
)
_NAMES_VLLM = re.compile(r"vllm\s*(?:$|[\[<>=!~@;(])", re.IGNORECASE)


def title(wish: dict[str, Any]) -> str:
    return f"install vllm {wish['version']}" if wish["version"] else "install vllm"


def build(wish: dict[str, Any], timeout_seconds: float, report: Report) -> dict[str, Any]:
    """{"built": whether there was anything to do}. Raises INSTALL_FAILED, INSTALLER_MISSING or DISK_FULL, and leaves nothing then."""
    name = wish["name"]
    if environments.is_usable(name):
        return {"built": False}
    started = time.monotonic()
    folder = environments.path(name)
    with records.disk_failures("install vllm in", folder):
        records.make_folder(environments.folder())
        shutil.rmtree(folder, ignore_errors=True)
        try:
            uv = uv_tool.ensure(wish["indexUrl"], report)
            with disk_flush.meanwhile(folder.parent):
                _install(uv, wish, started + timeout_seconds, report)
            report({"phase": "install", "text": "running vllm once, to see that it starts"})
            # Both take their time on a slow disk.
            ended = side_by_side.run(
                {"facts": lambda: environment_check.probe(name), "flush": lambda: disk_flush.flush(folder)}
            )
            ended.told("flush")
            facts = ended.told("facts")
            environments.complete(name, wish, facts, f"uv {uv.version}", time.monotonic() - started)
        finally:
            if environments.read(name) is None:
                shutil.rmtree(folder, ignore_errors=True)
    return {"built": True}


def _install(uv: uv_tool.Uv, wish: dict[str, Any], deadline: float, report: Report) -> None:
    folder = environments.path(wish["name"])
    venv = ["venv", f"--python={wish['python'] or _PYTHON}", "--no-project", str(folder)]
    _run(uv, wish, venv, deadline, report)
    # In memory: a requirement can hold a login, and arguments are seen by everybody on the host.
    requirements = os.memfd_create("requirements")
    try:
        os.write(requirements, requirements_text(wish).encode())
        backend = [f"--torch-backend={wish['torchBackend']}"] if wish["torchBackend"] else []
        target = ["--python", str(environments.python_path(wish["name"]))]
        listed = f"/proc/{os.getpid()}/fd/{requirements}"
        _run(uv, wish, ["pip", "install", *target, *backend, "--requirements", listed], deadline, report)
    finally:
        os.close(requirements)


def requirements_text(wish: dict[str, Any]) -> str:
    """vLLM of the version declared; where none is, a requirement of vLLM among the packages is enough."""
    lines = list(wish["packages"])
    if wish["version"]:
        lines.insert(0, f"vllm=={wish['version']}")
    elif not any(_NAMES_VLLM.match(line.strip()) for line in lines):
        lines.insert(0, "vllm")
    return "\n".join(lines) + "\n"


def _run(uv: uv_tool.Uv, wish: dict[str, Any], words: list[str], deadline: float, report: Report) -> None:
    log = job.log_file(environments.job_key(wish["name"]))
    outcome = uv_run.run([uv.path, *words], _environment(wish), log, deadline, report)
    if outcome.code != 0:
        raise install_failure.of(title(wish), outcome.code, outcome.lines, environments.folder())


def _environment(wish: dict[str, Any]) -> dict[str, str]:
    login = executable.login_environment()
    index = index_choice.for_uv(wish["indexUrl"], wish["extraIndexUrls"], login)
    index_url.hide_logins([*index.values(), *wish["packages"]])
    kept = {name: value for name, value in login.items() if name not in _OF_OTHERS}
    return {**kept, **index, "NO_COLOR": "1", "UV_NO_PROGRESS": "1", "HOME": str(paths.home())}
