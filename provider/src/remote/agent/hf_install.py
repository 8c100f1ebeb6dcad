"""Brings the hub's client to a host that has none, into a folder of our own."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any, Callable

from agent import executable, forgetting, index_choice, job, paths, records, uv_run, uv_tool
from agent.failure import AgentFailure

VERSION = "2.4.0"
KEY = f"hf-{VERSION}"
DEADLINE_SECONDS = 900.0


def program() -> Path:
    """<stateRoot>/tools/hf-<version>/bin/hf, there or not."""
    return _folder() / "bin" / "hf"


def is_complete() -> bool:
    return (_folder() / "complete").is_file()


def install(report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Body of the job KEY. Raises INSTALLER_MISSING and INSTALL_FAILED."""
    if is_complete():
        return {"path": str(program())}
    uv = uv_tool.ensure(None, report)
    began = time.monotonic()

    def tell(progress: dict[str, Any]) -> None:
        told = f"the hub's client (huggingface_hub {VERSION}, the host has none): {progress['text']}"
        report({**progress, "text": told})

    login = executable.login_environment()
    environment = {**login, **index_choice.for_uv(None, (), login), "NO_COLOR": "1", "UV_NO_PROGRESS": "1"}
    folder = _folder()
    with records.disk_failures("install the hub's client in", folder):
        shutil.rmtree(folder, ignore_errors=True)
        records.make_folder(folder.parent)
        into = ["--python", str(folder / "bin" / "python")]
        for words in (["venv", str(folder)], ["pip", "install", *into, f"huggingface_hub=={VERSION}"]):
            _run([uv.path, *words], environment, began + DEADLINE_SECONDS, tell)
        (folder / "complete").write_text(VERSION + "\n", encoding="ascii")
    return {"path": str(program())}


def drop_unless_others(server_id: str) -> None:
    """With the last server the client goes, if it was brought here."""
    if not forgetting.users(server_id):
        shutil.rmtree(_folder(), ignore_errors=True)


def _run(argv: list[str], environment: dict[str, str], deadline: float, tell: job.Report) -> None:
    outcome = uv_run.run(argv, environment, job.log_file(KEY), deadline, tell)
    if outcome.code != 0:
        raise AgentFailure(
            "INSTALL_FAILED",
            f"Cannot install the hub's client: `uv {argv[1]}` "
            + ("does not end" if outcome.code is None else f"ended with {outcome.code}")
            + f", need huggingface_hub {VERSION}",
            evidence=job.last_line(job.log_file(KEY)),
            change="install it on the host (pip install huggingface_hub, its `hf` on the login PATH), or give uv an index that has it "
            "(UV_DEFAULT_INDEX in the login environment)",
            retryable=True,
        )


def _folder() -> Path:
    return paths.state_root() / "tools" / f"hf-{VERSION}"
