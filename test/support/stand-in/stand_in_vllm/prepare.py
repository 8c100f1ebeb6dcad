"""From parsed arguments and the checkpoint to one Launch, or vLLM's refusal."""

from __future__ import annotations

import hashlib
import os
import sys
from argparse import Namespace

from . import gpu_state, settings
from .checkpoint import read_checkpoint
from .launch import Launch


class EngineConfigRefused(Exception):
    """Text of the ValidationError's `Value error`."""


def gpu_folder() -> str:
    """Where nvidia-smi and gpus.json of this installation lie; gpu-folder.txt names one that several installations share."""
    shared = os.path.join(sys.prefix, "gpu-folder.txt")
    if os.path.exists(shared):
        with open(shared, encoding="utf-8") as file:
            return file.read().strip()
    return os.path.join(sys.prefix, "gpu")


def prepare(args: Namespace, version: str, began: float) -> Launch:
    chosen = settings.read()
    has_own_code = chosen.fail == "trust-remote-code"
    checkpoint = read_checkpoint(args.model, bool(args.trust_remote_code), has_own_code)
    max_len = args.max_model_len
    if max_len is None or max_len == -1:
        max_len = (
            min(checkpoint.max_len, chosen.max_len or checkpoint.max_len)
            if max_len == -1
            else checkpoint.max_len
        )
    elif max_len > checkpoint.max_len and os.environ.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN") != "1":
        raise EngineConfigRefused(
            f"User-specified max_model_len ({max_len}) is greater than the derived max_model_len "
            f"(max_position_embeddings={float(checkpoint.max_len)} or model_max_length=None in model's config.json). To allow overriding "
            "this maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1. VLLM_ALLOW_LONG_MAX_MODEL_LEN must be used with extreme caution. "
            "If the model uses relative position encoding (RoPE), positions exceeding derived_max_model_len lead to nan. If the model uses "
            "absolute position encoding, positions exceeding derived_max_model_len will cause a CUDA array out-of-bounds error."
        )
    world = args.tensor_parallel_size * args.pipeline_parallel_size
    machine = gpu_state.read_machine(gpu_folder())
    gpus = (
        gpu_state.visible(machine, os.environ.get("CUDA_VISIBLE_DEVICES"))
        if chosen.platform == "cuda"
        else []
    )
    if chosen.platform == "cuda" and world > len(gpus):
        raise EngineConfigRefused(
            f"World size ({world}) is larger than the number of available GPUs ({len(gpus)}) in this node. If this is intentional and you are "
            "using:\n- ray, set '--distributed-executor-backend ray'.\n- multiprocessing, set '--nnodes' appropriately."
        )
    return Launch(
        began=began,
        version=version,
        settings=chosen,
        checkpoint=checkpoint,
        tokenizer_skipped=bool(args.skip_tokenizer_init),
        served_names=tuple(args.served_model_name or [args.model]),
        max_model_len=max_len,
        tensor_parallel=args.tensor_parallel_size,
        pipeline_parallel=args.pipeline_parallel_size,
        kv_cache_dtype=args.kv_cache_dtype,
        load_format=args.load_format,
        enforce_eager=bool(args.enforce_eager),
        prefix_caching=args.enable_prefix_caching is not False,
        quantization=args.quantization,
        gpu_memory_utilization=float(args.gpu_memory_utilization),
        max_num_seqs=args.max_num_seqs or 256,
        block_size=args.block_size or (16 if chosen.platform == "cuda" else 128),
        gpus=tuple(gpus[:world]),
        gpu_folder_state=machine.state,
        shutdown_timeout=args.shutdown_timeout,
        progress_bars=args.use_tqdm_on_load is not False,
    )


def tasks_of(args: Namespace) -> list[str]:
    pooling = args.runner == "pooling" or args.convert in ("embed", "classify", "reward")
    return ["token_embed", "embed"] if pooling else ["generate"]


def keys_of(args: Namespace) -> list[str]:
    """--api-key may hold several; VLLM_API_KEY is one."""
    given = args.api_key or ([os.environ["VLLM_API_KEY"]] if os.environ.get("VLLM_API_KEY") else [])
    return list(given)


def fingerprint_of(args: Namespace, version: str) -> str | None:
    if args.fingerprint_mode == "none":
        return None
    if args.fingerprint_mode == "custom":
        return str(args.fingerprint_value)
    digest = hashlib.sha256(
        repr(sorted((key, str(value)) for key, value in vars(args).items())).encode()
    ).hexdigest()[:8]
    return digest if args.fingerprint_mode == "hash" else f"vllm-{version}-{digest}"
