"""What stands in a model folder, as far as planning a start needs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional

from agent import paths

CONFIG_FILES = ("config.json", "hf_quant_config.json")

# Formats that vLLM 0.32 loads weights from. Source: vllm/model_executor/model_loader/default_loader.py.
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".gguf")

# The largest real one is below 1 MiB; nobody's 40 GB file becomes a reply.
LARGEST_CONFIG_BYTES = 16 * 1024 * 1024


def look(path: str) -> dict[str, Any]:
    """CheckpointSeen of core/observed.ts. Links stay in the path; weight sizes are those of their targets."""
    folder = paths.expand(path)
    try:
        entries = sorted(os.listdir(folder))
        texts = {name: _text(folder / name) for name in CONFIG_FILES}
    except OSError as error:
        return _not_found(folder, _reason(folder, error))
    except ValueError as error:
        return _not_found(folder, str(error))
    sizes = [_size(folder / name) for name in entries if name.endswith(WEIGHT_SUFFIXES)]
    there = [size for size in sizes if size is not None]
    return {
        "found": True,
        "path": str(folder),
        "files": texts,
        "weightFiles": len(there),
        "weightBytes": sum(there),
    }


def _not_found(folder: Path, reason: str) -> dict[str, Any]:
    return {"found": False, "path": str(folder), "reason": reason}


def _reason(folder: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it is a link to nowhere" if os.path.islink(folder) else "it does not exist"
    if isinstance(error, NotADirectoryError):
        return "it is a file, need a folder"
    if isinstance(error, PermissionError):
        return "%s cannot be read by uid %d" % (error.filename, os.getuid())
    return f"{error.filename}: {error.strerror}"


def _text(path: Path) -> Optional[str]:
    try:
        # newline="": the text is patched and written again as it stands.
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(LARGEST_CONFIG_BYTES + 1)
    except FileNotFoundError:
        if os.path.islink(path):
            raise ValueError(f"{path.name} is a link to nowhere (an unfinished download?)") from None
        return None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not UTF-8") from None
    if len(text) > LARGEST_CONFIG_BYTES:
        raise ValueError("%s is larger than %d bytes" % (path.name, LARGEST_CONFIG_BYTES))
    return text


def _size(path: Path) -> Optional[int]:
    """None for a link to nowhere: that file is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None
