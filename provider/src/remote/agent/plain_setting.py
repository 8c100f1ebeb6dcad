"""Variables of `environment` that may stand in texts as they are: see core/plain-setting.ts, which is the same."""

from __future__ import annotations

import re

_PREFIXES = (
    *("VLLM_", "NCCL_", "GLOO_", "OMP_", "CUDA_"),
    *("TORCH_", "TORCHINDUCTOR_", "PYTORCH_", "TRITON_"),
)
_SECRET_WORDS = frozenset(
    ("KEY", "KEYS", "TOKEN", "SECRET", "PASS", "PASSWORD", "PIN", "AUTH", "CREDENTIAL", "CREDENTIALS")
)
_ONE_WORD = re.compile(r"[\w.,:+-]{1,32}", re.ASCII)
_PLAIN_WORDS = frozenset(
    ("true", "false", "none", "null", "auto", "debug", "info", "warn", "warning", "error", "critical")
)
_NUMBER = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,3})?")


def is_plain(name: str, value: str) -> bool:
    if is_plain_word(value):
        return True
    if not _SECRET_WORDS.isdisjoint(name.upper().split("_")):
        return False
    is_setting = name.startswith(_PREFIXES) and _ONE_WORD.fullmatch(value) is not None
    return is_setting or _NUMBER.fullmatch(value) is not None


def is_plain_word(value: str) -> bool:
    """No secret, whoever holds it."""
    return value.lower() in _PLAIN_WORDS
