"""Run by the Python of a new environment: imports vLLM and tells what its PyTorch was built for, as JSON on the last line."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from typing import Any, Optional


def _version_of(distribution: str) -> Optional[str]:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _torch() -> dict[str, Any]:
    # Not by NVML, which tells of a GPU whatever the driver runs. Memory is not taken: the driver is started, no context is made.
    # Source: torch.cuda.is_available, PyTorch 2.13.
    os.environ.pop("PYTORCH_NVML_BASED_CUDA_CHECK", None)
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        return {"torchError": f"{type(error).__name__}: {error}"}
    return {
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "architectures": list(torch.cuda.get_arch_list()),
        "cudaAvailable": bool(torch.cuda.is_available()),
    }


def _extension_errors(package: str) -> dict[str, str]:
    """Compiled parts that vLLM loads by itself on CUDA and that do not load: a wheel for another CUDA shows here. Each in a process of
    its own: code for another processor would end this one."""
    errors = {}
    for name in sorted(os.listdir(package)):
        module = name.partition(".")[0]
        if name.endswith(".so") and module in ("_C", "_C_stable_libtorch"):
            asked = [sys.executable, "-c", f"import torch, vllm.{module}"]
            told = subprocess.run(asked, capture_output=True, text=True, errors="replace")
            if told.returncode > 0:
                errors[name] = told.stderr.strip().rpartition("\n")[2]
    return errors


def main() -> None:
    facts: dict[str, Any] = {"python": sys.version.split()[0], **_torch()}
    vllm = importlib.import_module("vllm")
    facts["vllm"] = _version_of("vllm") or getattr(vllm, "__version__", None)
    is_for_cuda = bool(facts.get("cuda")) and "+cpu" not in str(facts["vllm"])
    facts["extensionErrors"] = _extension_errors(os.path.dirname(str(vllm.__file__))) if is_for_cuda else {}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
