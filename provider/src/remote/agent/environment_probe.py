"""Run by the Python of a new environment: imports vLLM and tells what its PyTorch was built for, as JSON on the last line."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
from typing import Any, Optional


def _version_of(distribution: str) -> Optional[str]:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _torch() -> dict[str, Any]:
    # So that the question whether there is a GPU does not take memory on it. Source: torch.cuda.is_available, PyTorch 2.0 on.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
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
    """Compiled parts that vLLM loads by itself on this platform and that do not load: a wheel for another CUDA shows here."""
    errors = {}
    for name in sorted(os.listdir(package)):
        if name.startswith("_C.") and name.endswith(".so"):
            try:
                importlib.import_module("vllm._C")
            except (ImportError, OSError) as error:
                errors[name] = str(error)
    return errors


def main() -> None:
    facts: dict[str, Any] = {"python": sys.version.split()[0], **_torch()}
    vllm = importlib.import_module("vllm")
    facts["vllm"] = _version_of("vllm") or getattr(vllm, "__version__", None)
    facts["extensionErrors"] = _extension_errors(os.path.dirname(str(vllm.__file__)))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
