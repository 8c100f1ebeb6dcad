"""The real client of the hub, where one is installed."""

import os
import shutil
from pathlib import Path

_CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
# Where scripts/setup-hf.mjs puts it; read before a test moves HOME.
_CACHED = Path(os.environ.get("PULUMI_VLLM_CACHE") or os.path.join(_CACHE, "pulumi-vllm"))
HF = next((str(path) for path in sorted(_CACHED.glob("hf-*/bin/hf"))), None) or shutil.which("hf")
MISSING = "the hub's client `hf` is not installed here (scripts/setup-hf.mjs brings it)"


def environment(hub_url, home):
    """For a client that asks that hub, keeps its cache below `home`, and nothing else."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "HF_HOME": str(home / "hf"),
        "HF_ENDPOINT": hub_url,
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "NO_COLOR": "1",
    }
