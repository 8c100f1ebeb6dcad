"""Environment of vLLM's processes: what the login says about user and machine, what the declaration says, and our own marks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent import toolchain

# What describes the user and the machine. How vLLM itself behaves (VLLM_*, PYTHON*, CUDA_VISIBLE_DEVICES, NCCL_*) is declared,
# so that a line in somebody's profile does not change a server.
FROM_LOGIN = (
    *("HOME", "USER", "LOGNAME", "SHELL", "PATH", "TZ"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"),
    # Libraries and compilers, where a profile or a module system says where they are: kernels are compiled at start.
    *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"),
    *("CUDA_HOME", "CUDA_PATH", "CC", "CXX"),
    # Where caches lie.
    *("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "TRITON_CACHE_DIR"),
    # The way to the network.
    *(
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
    ),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "HF_ENDPOINT"),
)


def build(
    login: Mapping[str, str],
    launch: Mapping[str, object],
    server_id: str,
    temp: Path,
    gpu_names: Sequence[str],
) -> dict[str, str]:
    """Later ones win: login basics, GPUs (UUIDs or indexes), `environment`, `secretEnvironment`, and last what stop has to rely on."""
    return {
        **of_login(login, str(launch["executable"])),
        **_gpus(gpu_names),
        **_texts(launch["environment"]),
        **_texts(launch["secretEnvironment"]),
        "PULUMI_VLLM_SERVER": server_id,
        # Without it retitled children overwrite their environ, marker included. Source: vLLM 0.32.0, setproctitle.
        "SPT_NOENV": "1",
        "TMPDIR": str(temp),
    }


def of_login(login: Mapping[str, str], executable: str) -> dict[str, str]:
    """What vLLM's processes take from the login environment, the executable's own folder first on PATH, and last on it the
    compilers that the login does not find."""
    basics = {name: login[name] for name in FROM_LOGIN if name in login}
    # Where it is a link (uv, pipx), what lies beside the real one counts too: ninja, for kernels that are compiled at start.
    folders = [os.path.dirname(executable), os.path.dirname(os.path.realpath(executable))]
    search = ":".join([*dict.fromkeys(folders), login.get("PATH", os.defpath)])
    return toolchain.complete({**basics, "PATH": search}, executable)


def _gpus(names: Sequence[str]) -> dict[str, str]:
    if not names:
        return {}
    # In this order an index means the same GPU to CUDA as to nvidia-smi.
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(names)}


def _texts(value: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, Mapping) else {}
