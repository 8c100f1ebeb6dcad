"""Compilers that vLLM calls while it starts, where a shell that is no login does not find them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from agent import command

# Where CUDA is installed. Source: NVIDIA's packages and runfile (/usr/local/cuda-X.Y, with a link), Arch Linux (/opt/cuda).
CUDA_PLACES = ("/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda")
# The wheels of CUDA 13 on bring a compiler, which PyTorch's are built against. Source: nvidia-cuda-nvcc 13.
_CUDA_IN_ENVIRONMENT = "lib/python3*/site-packages/nvidia/cu*"
# Where compilers stand on every Linux.
PROGRAM_PLACES = ("/usr/local/bin", "/usr/bin", "/bin")

# What is needed -> by what. Source: Triton 3.7.1, runtime/build.py (a stub in C at the first launch of a kernel: CC alone, else gcc,
# clang); FlashInfer, jit/cpp_ext.py (CUDA_HOME alone, else CUDA_PATH, nvcc; ninja; CXX, else c++; Python's headers).
_FLASHINFER = "FlashInfer, where it has no built kernel for the GPU"
NEEDED_BY = {
    "C compiler": "Triton, whenever vLLM runs on a GPU: gcc or clang, or what CC names",
    "nvcc": f"{_FLASHINFER}: CUDA's compiler (CUDA toolkit, or CUDA_HOME)",
    "ninja": f"{_FLASHINFER}: ninja, in vLLM's environment or on the PATH",
    "C++ compiler": f"{_FLASHINFER}: g++ with the name c++, or what CXX names",
    "Python.h": "Triton and FlashInfer, whenever vLLM runs on a GPU: the headers of its Python (python3-dev; uv's own Pythons have them)",
}
_HEADERS = """
import os, sysconfig
scheme = sysconfig.get_default_scheme()
place = sysconfig.get_paths(scheme="posix_prefix" if scheme == "posix_local" else scheme)["include"]
print(os.path.isfile(os.path.join(place, "Python.h")))
"""
_ASK_SECONDS = 20.0


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
    if (
        any(_find(name, search) is None for name in ("ninja", "c++"))
        or _compiler(environment, search) is None
    ):
        added += [place for place in PROGRAM_PLACES if place not in search.split(":")]
    useful = [
        place
        for place in added
        if any(_find(name, place) for name in ("nvcc", "ninja", "gcc", "clang", "c++"))
    ]
    if useful:
        completed["PATH"] = ":".join([search, *useful])
    return completed


def missing(environment: Mapping[str, str], executable: str) -> list[str]:
    """One line for each thing that vLLM's processes do not find in an environment that `complete` made: what needs it."""
    search = environment.get("PATH", os.defpath)
    found = {
        "C compiler": _compiler(environment, search) is not None,
        "nvcc": _has_cuda(environment, search),
        "ninja": _find("ninja", search) is not None,
        "C++ compiler": _find(_first_word(environment, "CXX") or "c++", search) is not None,
        "Python.h": _has_headers(environment, executable),
    }
    return [
        f"no {name} on the host; needed by {NEEDED_BY[name]}"
        for name, is_there in found.items()
        if not is_there
    ]


def _has_cuda(environment: Mapping[str, str], search: str) -> bool:
    home = environment.get("CUDA_HOME") or environment.get("CUDA_PATH")
    return _has_nvcc(Path(home)) if home else _find("nvcc", search) is not None


def _has_headers(environment: Mapping[str, str], executable: str) -> bool:
    """Of the Python beside vLLM; of one that does not answer nothing is said."""
    python = Path(os.path.realpath(executable)).parent / "python"
    try:
        told = command.run([str(python), "-I", "-c", _HEADERS], dict(environment), _ASK_SECONDS)
    except OSError:
        return True
    return told.code != 0 or told.stdout.strip() != "False"


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
    """As Triton looks."""
    wished = _first_word(environment, "CC")
    names = [wished] if wished else ["gcc", "clang"]
    return next((found for found in (_find(name, search) for name in names) if found is not None), None)


def _first_word(environment: Mapping[str, str], name: str) -> Optional[str]:
    """Of a variable that may hold options too."""
    return next(iter((environment.get(name) or "").split()), None)


def _find(name: str, search: str) -> Optional[str]:
    return shutil.which(name, path=search)
