"""Environment of vLLM's processes: the login environment's basics, what the declaration says, and our own marks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_FROM_LOGIN = ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "PATH")


def build(
    login: Mapping[str, str],
    launch: Mapping[str, object],
    server_id: str,
    temp: Path,
    gpu_uuids: Sequence[str],
) -> dict[str, str]:
    """Later ones win: login basics, GPUs, `environment`, `secretEnvironment`, and last what stop has to rely on."""
    return {
        **_basics(login, str(launch["executable"])),
        **_gpus(gpu_uuids),
        **_texts(launch["environment"]),
        **_texts(launch["secretEnvironment"]),
        "PULUMI_VLLM_SERVER": server_id,
        # Without it retitled children overwrite their environ, marker included. Source: vLLM 0.32.0, setproctitle.
        "SPT_NOENV": "1",
        "TMPDIR": str(temp),
    }


def _basics(login: Mapping[str, str], executable: str) -> dict[str, str]:
    basics = {name: login[name] for name in _FROM_LOGIN if name in login}
    folder = os.path.dirname(executable)
    path = login.get("PATH", os.defpath)
    return {**basics, "PATH": f"{folder}:{path}"}


def _gpus(uuids: Sequence[str]) -> dict[str, str]:
    if not uuids:
        return {}
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(uuids)}


def _texts(value: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, Mapping) else {}
