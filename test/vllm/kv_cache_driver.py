"""Asks the real vLLM what KV-cache dtype it settles on for many checkpoints, in one process: its imports cost 14 seconds.

usage: python kv_cache_driver.py CASES.json ANSWERS.json
A case is {"files": {name: text}, "flag": value of --kv-cache-dtype | null, "dtype": value of --dtype | null,
"capability": [major, minor] of the CUDA device to answer for | null}.
An answer is {"resolves": dtype | null, "error": text | null, "stage": where it was refused | null, "quantization": vLLM's method |
null, "modelDtype": "bfloat16" | ..., "backends": {backend or layout of sparse attention: stored dtype | null where it is refused}}.

Nothing of vLLM is copied here: its EngineArgs read the checkpoint, its hooks of architectures, its quantization configs
and its Attention layer decide. Two things of the surroundings are replaced, because there is no GPU: a model class is looked at in
this process instead of in one of its own, and a hook is told that the device is the CUDA device of the case.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

# The one of SM9x and SM10x whose code loads without a GPU, and the only one of SM12x.
SPARSE_BACKENDS = ("FLASHMLA_SPARSE", "FLASHINFER_MLA_SPARSE_SM120")


class Refused(Exception):
    """vLLM's own refusal, and at which step."""

    def __init__(self, stage: str, error: BaseException) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.stage = stage


@contextlib.contextmanager
def step(stage: str) -> Iterator[None]:
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        raise Refused(stage, error) from error


def engine_config(folder: str, case: dict[str, Any]) -> Any:
    from vllm.engine.arg_utils import EngineArgs

    given = {"kv_cache_dtype": case["flag"], "dtype": case["dtype"]}
    args = EngineArgs(
        model=folder,
        skip_tokenizer_init=True,
        max_model_len=64,
        enforce_eager=True,
        **{name: value for name, value in given.items() if value is not None},
    )
    return args.create_engine_config()


def ask_hook(config: Any, capability: list[int]) -> None:
    """The architecture's own hook, on that device. Source: vllm 0.32.0 model_executor/models/config.py MODELS_CONFIG_MAP."""
    from vllm.model_executor.models.config import MODELS_CONFIG_MAP
    from vllm.platforms import current_platform

    hook = MODELS_CONFIG_MAP.get(config.model_config.architecture)
    if hook is None:
        return
    device = type(current_platform)
    with (
        mock.patch.object(device, "is_cuda", lambda _self: True),
        mock.patch.object(
            device,
            "is_device_capability_family",
            classmethod(lambda _cls, family, device_id=0: family // 10 == capability[0]),
        ),
    ):
        hook.verify_and_update_config(config)


def build_layer(config: Any) -> None:
    """The layer that has the last word, as a model builds it; it writes its word to config.cache_config.

    MLAAttention takes the dtype as it is, so there is nothing to build for it.
    Source: vllm 0.32.0 model_executor/layers/attention/mla_attention.py, attention.py:287.
    """
    from vllm.config import set_current_vllm_config
    from vllm.model_executor.layers.attention import Attention

    model = config.model_config
    if model.use_mla:
        return
    with set_current_vllm_config(config):
        Attention(
            num_heads=model.model_arch_config.total_num_attention_heads,
            head_size=model.get_head_size(),
            scale=1.0,
            num_kv_heads=model.model_arch_config.total_num_kv_heads,
            cache_config=config.cache_config,
            quant_config=config.quant_config,
            prefix="model.layers.0.self_attn.attn",
        )


def sparse_backends(dtype: str) -> dict[str, Any]:
    """What each backend makes of a dtype; null: it does not take it, and no other one of its GPUs does either."""
    from vllm.model_executor.layers.attention.mla_attention import _canonicalize_sparse_mla_kv_cache_dtype
    from vllm.v1.attention.backends.registry import AttentionBackendEnum

    answers = {}
    for name in SPARSE_BACKENDS:
        backend = AttentionBackendEnum[name].get_class()
        # MLAAttention asks the selector with the dtype as it came, and names the stored one behind it.
        takes = backend.supports_kv_cache_dtype(dtype)
        answers[name] = _canonicalize_sparse_mla_kv_cache_dtype(backend, dtype) if takes else None
    return answers


def deepseek_v4(config: Any) -> dict[str, Any]:
    """What its two layouts make of the dtype: the packed one is FlashMLA's, so the only one of SM9x; the plain one FlashInfer's.

    The packed one decides, as where no backend is chosen.
    """
    from vllm.models.deepseek_v4.attention import _resolve_dsv4_kv_cache_dtype

    cache = config.cache_config
    plain = _resolve_dsv4_kv_cache_dtype(False, cache.cache_dtype, None)[0]
    cache.cache_dtype = _resolve_dsv4_kv_cache_dtype(True, cache.cache_dtype, cache)[0]
    return {"fp8_ds_mla": cache.cache_dtype, "plain": plain}


def judge(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    for name, text in case["files"].items():
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    answer: dict[str, Any] = dict.fromkeys(("error", "stage", "resolves", "quantization", "modelDtype"))
    answer["backends"] = {}
    try:
        with step("config"):
            config = engine_config(str(folder), case)
        answer["quantization"] = config.model_config.quantization
        answer["modelDtype"] = str(config.model_config.dtype).removeprefix("torch.")
        if case["capability"] is not None:
            with step("hook"):
                ask_hook(config, case["capability"])
        with step("layer"):
            if config.model_config.hf_config.model_type == "deepseek_v4":
                answer["backends"] = deepseek_v4(config)
            else:
                build_layer(config)
        answer["resolves"] = config.cache_config.cache_dtype
        if hasattr(config.model_config.hf_text_config, "index_topk") and not answer["backends"]:
            answer["backends"] = sparse_backends(answer["resolves"])
    except Refused as refused:
        answer.update(error=str(refused), stage=refused.stage)
    return answer


def main() -> None:
    cases = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    from vllm.model_executor.models import registry

    registry._run_in_subprocess = lambda look: look()
    answers = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            answers.append(judge(case, Path(folder)))
    Path(sys.argv[2]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
