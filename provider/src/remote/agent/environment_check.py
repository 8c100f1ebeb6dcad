"""Runs a new environment once: that vLLM starts at all, which version it is, and for which GPUs it was built."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from agent import command, environments, executable, job_children, job_use, side_by_side, wheel_fit
from agent.command import Outcome
from agent.failure import AgentFailure

# Imports of PyTorch and vLLM from a cold, slow disk.
DEADLINE_SECONDS = 600.0
_EVIDENCE_LINES = 10
_VERSION = re.compile(r"\d+\.\d+\S*")


def probe(name: str) -> dict[str, Any]:
    """Facts: version (what `vllm --version` says), vllm, python, torch, cuda, hip, architectures, cudaAvailable, driverVersion,
    extensionErrors. Raises INSTALL_FAILED where vLLM cannot be run."""
    vllm, python = environments.executable_path(name), environments.python_path(name)
    if not vllm.exists():
        raise AgentFailure(
            "INSTALL_FAILED",
            "Cannot use the environment for vLLM: what was installed has no program `vllm`",
            change="vllm.version or vllm.packages: they have to bring vllm",
        )
    told = side_by_side.run(
        {
            "version": lambda: _run(name, [str(vllm), "--version"]),
            "facts": lambda: _run(name, [str(python), "-c", _probe_text()]),
        }
    )
    version, facts = _version(told.told("version")), _facts(told.told("facts"))
    return {**facts, "version": version, "driverVersion": wheel_fit.driver_now()}


def demand_fit(name: str, uuids: Optional[Sequence[str]] = None) -> None:
    """Raises WHEEL_UNSUITABLE where what it was built for does not fit these GPUs, or none of the host's, or their driver; costs
    one nvidia-smi, and an import of PyTorch where the driver seems too old."""
    record = environments.read(name)
    if record is not None:
        wheel_fit.demand(record["facts"], uuids, lambda: _cuda_works(name))


def _cuda_works(name: str) -> bool:
    asked = "import torch; print(torch.cuda.is_available())"
    told = _run(name, [str(environments.python_path(name)), "-c", asked])
    return told.code == 0 and told.stdout.split()[-1:] == ["True"]


def _run(name: str, argv: list[str]) -> Outcome:
    environment = executable.environment_for(str(environments.executable_path(name)))
    # So that it does not outlive a job that is killed.
    environment[job_children.MARKER] = str(job_use.folder(environments.job_key(name)))
    # Nothing may be fetched for a question. Source: vLLM, usage_lib.py.
    environment.update({"VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"})
    try:
        return command.run(argv, environment, DEADLINE_SECONDS)
    except OSError as error:
        raise _failure(f"{Path(argv[0]).name} cannot be run ({error.strerror})", None) from error


def _version(told: Outcome) -> str:
    words = [line.split()[-1] for line in told.stdout.splitlines() if line.split()]
    versions = [word for word in words if _VERSION.fullmatch(word)]
    if told.code != 0 or not versions:
        raise _failure(f"`vllm --version` {_end(told)}", told)
    return versions[-1]


def _facts(told: Outcome) -> dict[str, Any]:
    try:
        found = json.loads(told.stdout.splitlines()[-1]) if told.code == 0 else None
    except (IndexError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise _failure(f"`import vllm` {_end(told)}", told)
    if found.get("torchError"):
        raise _failure(f"`import torch` fails ({found['torchError']})", None)
    return found


def _end(told: Outcome) -> str:
    if told.code is None:
        return f"does not end within {DEADLINE_SECONDS:.0f} s"
    return f"ends with {told.code}"


def _failure(found: str, told: Optional[Outcome]) -> AgentFailure:
    said = "" if told is None else (told.stderr or told.stdout).strip()
    return AgentFailure(
        "INSTALL_FAILED",
        f"Cannot use the environment for vLLM that was installed: {found}",
        evidence="\n".join(said.splitlines()[-_EVIDENCE_LINES:]) or None,
        change="vllm.version, vllm.packages or vllm.python: they do not go together",
    )


def _probe_text() -> str:
    """Text of environment_probe.py, which travels with the agent and is on no disk."""
    spec = importlib.util.find_spec("agent.environment_probe")
    loader: Any = None if spec is None else spec.loader
    return str(loader.get_source("agent.environment_probe"))
