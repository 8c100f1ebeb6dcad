"""Which files of a checkpoint hold its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

# Formats that vLLM 0.32 loads weights from. Source: vllm/model_executor/model_loader/default_loader.py.
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".gguf")


def loaded_bytes(sizes: Mapping[str, int]) -> Optional[int]:
    """Bytes of the files that vLLM loads, of bytes by name; None where that is not known: other formats than safetensors.

    Mistral puts all weights into one more file beside the shards. Source: vLLM 0.32.0 default_loader.py, weight_utils.py
    filter_duplicate_safetensors_files.
    """
    names = [name for name in sizes if name.endswith(".safetensors")]
    shards = [name for name in names if not name.startswith("consolidated")] or names
    return sum(sizes[name] for name in shards) if shards else None
