"""Stand-ins of the packages that a vLLM environment is made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from .wheel import Wheel

STAND_IN = Path(__file__).resolve().parents[2] / "stand-in" / "stand_in_vllm"

_MINIMAL = """import sys


def main():
    from importlib.metadata import version

    if sys.argv[1:] in (["--version"], ["-v"]):
        print(version("vllm"))
        return 0
    print("the minimal vllm knows --version only", file=sys.stderr)
    return 1
"""

_TORCH = """from . import cuda, version

__version__ = {version!r}
"""

_TORCH_CUDA = """import os


def get_arch_list():
    return {architectures!r}


def is_available():
    # By NVML a GPU is always there, as with the real one.
    return os.environ.get("PYTORCH_NVML_BASED_CUDA_CHECK") == "1" or {available}
"""


def vllm(version: str, requires: Sequence[str] = ("torch",), **more: object) -> Wheel:
    """The least that is a vllm: `vllm --version` and a package to import."""
    return Wheel(
        "vllm",
        version,
        {"vllm/__init__.py": f"__version__ = {version!r}\n".encode(), "vllm/command.py": _MINIMAL.encode()},
        console_scripts={"vllm": "vllm.command:main"},
        requires=requires,
        **more,  # type: ignore[arg-type]
    )


def stand_in_vllm(version: str, requires: Sequence[str] = ("torch",)) -> Wheel:
    """The stand-in of test/support/stand-in, which serves, as a wheel."""
    files = {
        f"stand_in_vllm/{path.relative_to(STAND_IN)}": path.read_bytes()
        for path in sorted(STAND_IN.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    package = {"vllm/__init__.py": f"__version__ = {version!r}\n".encode()}
    return Wheel(
        "vllm",
        version,
        {**files, **package},
        console_scripts={"vllm": "stand_in_vllm.main:main"},
        requires=requires,
    )


def torch(
    version: str = "2.13.0",
    cuda: Optional[str] = None,
    architectures: Sequence[str] = (),
    available: str = "False",
    **more: object,
) -> Wheel:
    """What of torch tells about CUDA: torch.version.cuda, torch.cuda.get_arch_list(). `available`: a Python expression."""
    asked = _TORCH_CUDA.format(architectures=list(architectures), available=available)
    return Wheel(
        "torch",
        version,
        {
            "torch/__init__.py": _TORCH.format(version=version).encode(),
            "torch/version.py": f"cuda = {cuda!r}\nhip = None\n".encode(),
            "torch/cuda.py": asked.encode(),
        },
        **more,  # type: ignore[arg-type]
    )


def uv(version: str, program: Path, platform: Optional[str] = None) -> Wheel:
    """The real uv program in a wheel like the one it comes in."""
    machine = os.uname().machine
    return Wheel(
        "uv",
        version,
        scripts={"uv": program.read_bytes()},
        tags=(f"py3-none-{platform}",)
        if platform
        else (f"py3-none-manylinux_2_17_{machine}", f"py3-none-manylinux2014_{machine}"),
    )
