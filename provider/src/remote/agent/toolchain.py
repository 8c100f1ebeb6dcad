"""Compilers that vLLM calls while it starts, where a shell that is no login does not find them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

# Where CUDA is installed. Source: NVIDIA's packages and runfile (/usr/local/cuda-X.Y, with a link), Arch Linux (/opt/cuda).
CUDA_PLACES = ("/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda")
# The wheels of CUDA 13 on bring a compiler, which PyTorch's are built against. Source: nvidia-cuda-nvcc 13.
_CUDA_IN_ENVIRONMENT = "lib/python3*/site-packages/nvidia/cu*"
# Where compilers stand on every Linux.
PROGRAM_PLACES = ("/usr/local/bin", "/usr/bin", "/bin")

# Program -> what needs it. Source: vLLM 0.32.0: Triton compiles a stub in C at the first launch of a kernel (triton/runtime/build.py);
# FlashInfer compiles kernels with nvcc and ninja where it has no built ones (flashinfer/jit).
NEEDED_BY = {
    "cc": "Triton, whenever vLLM runs on a GPU: a C compiler (gcc, clang or CC)",
    "nvcc": "FlashInfer, where it has no built kernel for the GPU: CUDA's compiler (CUDA toolkit, or CUDA_HOME)",
    "ninja": "FlashInfer, where it has no built kernel for the GPU: ninja",
}


def complete(environment: Mapping[str, str], executable: str) -> dict[str, str]:
    """The environment with PATH continued, and CUDA_HOME set, so that nvcc, ninja and a C compiler are found. Nothing that is found
    already, or was set, is changed; what comes first on PATH stays first."""
    completed = dict(environment)
    search = environment.get("PATH", os.defpath)
    added: list[str] = []
    if _find("nvcc", search) is None:
        home = _cuda_home(environment, executable)
        if home is not None:
            added.append(os.path.join(home, "bin"))
            completed.setdefault("CUDA_HOME", home)
    if _compiler(environment, search) is None or _find("ninja", search) is None:
        added += [place for place in PROGRAM_PLACES if place not in search.split(":")]
    useful = [
        place
        for place in added
        if any(_find(name, place) for name in ("nvcc", "ninja", "cc", "gcc", "clang"))
    ]
    if useful:
        completed["PATH"] = ":".join([search, *useful])
    return completed


def missing(environment: Mapping[str, str]) -> list[str]:
    """One line for each program that is not found in an environment that `complete` made: what needs it."""
    search = environment.get("PATH", os.defpath)
    found: dict[str, Optional[str]] = {
        "cc": _compiler(environment, search),
        "nvcc": _find("nvcc", search),
        "ninja": _find("ninja", search),
    }
    return [
        f"no {name} on the host; needed by {NEEDED_BY[name]}" for name, path in found.items() if path is None
    ]


def _cuda_home(environment: Mapping[str, str], executable: str) -> Optional[str]:
    """What was set counts alone: another CUDA than the one wished would be worse than none."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if environment.get(name):
            return environment[name] if _has_nvcc(Path(environment[name])) else None
    prefix = Path(os.path.realpath(executable)).parent.parent
    places = [place for pattern in CUDA_PLACES for place in _newest_first(Path("/"), pattern.lstrip("/"))]
    places += _newest_first(prefix, _CUDA_IN_ENVIRONMENT)
    return next((str(place) for place in places if _has_nvcc(place)), None)


def _newest_first(base: Path, pattern: str) -> list[Path]:
    return sorted(base.glob(pattern), key=_numbers, reverse=True)


def _numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _has_nvcc(home: Path) -> bool:
    return os.access(home / "bin" / "nvcc", os.X_OK)


def _compiler(environment: Mapping[str, str], search: str) -> Optional[str]:
    """As Triton looks: CC, then gcc, then clang."""
    wished = (environment.get("CC") or "").split()
    names = [*wished[:1], "gcc", "clang", "cc"]
    return next((found for found in (_find(name, search) for name in names) if found is not None), None)


def _find(name: str, search: str) -> Optional[str]:
    return shutil.which(name, path=search)
