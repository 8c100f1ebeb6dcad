"""The launch that was last proven ready, kept while a newer one has yet to prove itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from agent import paths, record_shapes, records, secret_hash
from agent.registry import Server

_LAUNCH, _SECRETS, _READY = "launch.json", "secrets.json", "ready.json"
# What launch_files.write adds to the launch of a step.
_OF_ONE_START = frozenset(
    {"generation", "gpuUuids", "gpuBaselineMib", "brokenLinks", "tempFolder", "managerWish"}
)
# Launches of earlier versions may lack some; those cannot be started again.
_NEEDED = frozenset(
    {"fingerprint", "executable", "modelPath", "configYaml", "listen", "gpus", "servedModelNames", "restart"}
    | {"environment", "drainSeconds", "manager"}
)


@dataclass(frozen=True)
class LastGood:
    # launch.json and ready.json as they stood.
    launch: dict[str, Any]
    ready: dict[str, Any]
    secrets: dict[str, Any]

    def start_step(self) -> dict[str, Any]:
        """Starts it as it was, on the same GPUs where any will do, by the manager that looked after it."""
        launch = {name: value for name, value in self.launch.items() if name not in _OF_ONE_START}
        gpus = launch["gpus"]
        if gpus["kind"] == "count":
            gpus = {**gpus, "prefer": self.launch.get("gpuUuids") or gpus["prefer"]}
        return {"kind": "start", "launch": {**launch, "gpus": gpus, "secretEnvironment": self.secrets}}

    def wait_step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """It has to answer what it answered before; how long that may take, the step "return" says."""
        return {
            "kind": "wait",
            "probe": self.ready["probe"],
            "apiKey": self.secrets.get("VLLM_API_KEY"),
            "fingerprint": fingerprint_answered(self.launch),
            "timeoutSeconds": step["timeoutSeconds"],
            **{name: step[name] for name in ("fatalPatterns", "idlePatterns", "stallSeconds")},
        }


def fingerprint_answered(launch: Mapping[str, Any]) -> Optional[str]:
    """What the server answers as its fingerprint where its version can; None where it cannot."""
    has_one = re.search(r"^fingerprint-value: ", str(launch.get("configYaml")), re.MULTILINE)
    return str(launch["fingerprint"]) if has_one else None


def keep(server: Server) -> None:
    """Before another launch takes its place. One that never was ready leaves what is kept as it is."""
    if server.ready_of_launch() is None:
        return
    target = folder(server.server_id)
    for name in (_LAUNCH, _SECRETS, _READY):
        found = records.read_json(target.parent / name)
        if found is not None:
            records.write_json(target / name, found)


def find(server: Server) -> Optional[LastGood]:
    """The one that was started last where it has been ready, else the one that is kept; None: none ever was."""
    ready = server.ready_of_launch()
    if ready is not None:
        return _whole(server.launch, ready, secret_hash.kept(server.server_id))
    kept = folder(server.server_id)
    return _whole(*(records.read_json(kept / name) for name in (_LAUNCH, _READY, _SECRETS)))


def _whole(launch: Any, ready: Any, secrets: Any) -> Optional[LastGood]:
    is_whole = (
        record_shapes.fits(launch, record_shapes.LAUNCH, _NEEDED)
        and record_shapes.fits(ready, record_shapes.READY, frozenset({"probe"}))
        and isinstance(secrets, dict)
    )
    return LastGood(launch, ready, secrets) if is_whole else None


def drop(server_id: str) -> None:
    """A newer one has been ready."""
    shutil.rmtree(folder(server_id), ignore_errors=True)


def folder(server_id: str) -> Path:
    return paths.server_folder(server_id) / "last-good"
