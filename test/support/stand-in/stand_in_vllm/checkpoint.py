"""What vLLM reads of a checkpoint before it loads weights, and what it refuses."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

JsonObject = dict[str, Any]


class ConfigRefused(Exception):
    """Ends the API server with pydantic's ValidationError for ModelConfig."""


class HubUnreachable(Exception):
    """A model that is no folder: the stand-in has no hub."""


@dataclass(frozen=True)
class Checkpoint:
    path: str
    architecture: str
    dtype: str
    max_len: int
    is_mla: bool
    #: What the files ask the KV cache to be, None: nothing.
    kv_request: str | None
    weight_files: int
    vocabulary: int


def _read(path: str, name: str) -> JsonObject | None:
    try:
        with open(os.path.join(path, name), encoding="utf-8") as file:
            value: JsonObject = json.load(file)
            return value
    except FileNotFoundError:
        return None


def read_checkpoint(path: str, trust_remote_code: bool, has_own_code: bool = False) -> Checkpoint:
    """`has_own_code` holds also without auto_map. Raises ConfigRefused or HubUnreachable."""
    if not os.path.isdir(path):
        raise HubUnreachable(path)
    config = _read(path, "config.json")
    if config is None:
        raise ConfigRefused(
            f"Invalid repository ID or local directory specified: '{path}'.\n"
            "Please verify the following requirements:\n1. Provide a valid Hugging Face repository ID.\n"
            "2. Specify a local directory that contains a recognized configuration file.\n"
            "   - For Hugging Face models: ensure the presence of a 'config.json'.\n"
            "   - For Mistral models: ensure the presence of a 'params.json'.\n"
        )
    if ("auto_map" in config or has_own_code) and not trust_remote_code:
        raise ConfigRefused(
            f"The repository {path} contains custom code which must be executed to correctly load the model. "
            f"You can inspect the repository content at {path} .\n"
            f" You can inspect the repository content at https://hf.co/{path}.\n"
            "Please pass the argument `trust_remote_code=True` to allow custom code to be run."
        )
    text = config.get("text_config") or config
    is_mla = "kv_lora_rank" in config or "kv_lora_rank" in text
    return Checkpoint(
        path=path,
        architecture=(config.get("architectures") or ["LlamaForCausalLM"])[0],
        dtype=str(text.get("dtype") or text.get("torch_dtype") or config.get("torch_dtype") or "bfloat16"),
        max_len=int(text.get("max_position_embeddings") or config.get("max_position_embeddings") or 2048),
        is_mla=is_mla,
        kv_request=_kv_request(config, _read(path, "hf_quant_config.json"), is_mla),
        weight_files=sum(name.endswith((".safetensors", ".bin", ".pt")) for name in os.listdir(path)),
        vocabulary=int(text.get("vocab_size") or 32000),
    )


def _kv_request(config: JsonObject, legacy: JsonObject | None, is_mla: bool) -> str | None:
    """Source: resolve_kv_cache_dtype_string, vllm/utils/torch_utils.py; Attention.__init__ for compressed-tensors."""
    read_by_auto = config.get("quantization_config")
    if read_by_auto is None:
        read_by_auto = legacy
    settings = read_by_auto
    if settings is None:
        settings = (config.get("text_config") or {}).get("quantization_config") or config.get(
            "compression_config"
        )
    if not isinstance(settings, dict):
        return None
    if settings.get("quant_method") == "compressed-tensors":
        # MLAAttention does not look at the scheme.
        return "fp8_e4m3" if settings.get("kv_cache_scheme") is not None and not is_mla else None
    inner = settings.get("quantization")
    inner = inner if isinstance(inner, dict) else {}
    method = str(settings.get("quant_method", "modelopt" if "quant_algo" in {**settings, **inner} else ""))
    if read_by_auto is None or not method.startswith("modelopt"):
        return None
    for place, key in (
        (inner, "kv_cache_scheme"),
        (settings, "kv_cache_scheme"),
        (inner, "kv_cache_quant_algo"),
        (settings, "kv_cache_quant_algo"),
    ):
        if place.get(key):
            return _kv_dtype(place[key])
    return None


def _kv_dtype(value: object) -> str | None:
    if isinstance(value, dict) and value.get("type") == "float" and not value.get("dynamic"):
        return {8: "fp8_e4m3", 4: "nvfp4"}.get(value.get("num_bits", 0))
    return {"fp8": "fp8_e4m3", "nvfp4": "nvfp4"}.get(str(value).lower())
