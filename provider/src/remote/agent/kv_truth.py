"""What a started server tells of the type that its KV cache really has, place by place, so that a wish that was lost is seen.

vLLM's own config answers only what it set out to do: a layer takes another type by itself, in another process. Sources: vLLM 0.16 to
0.33, config/vllm.py __str__, model_executor/layers/attention/mla_attention.py, models/deepseek_v4/attention.py, v1/metrics/loggers.py.
"Using fp8 data type to store kv cache" is no such place: a draft model's config says it too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

# The model's dtype.
_AUTO = "auto"
_LAYER = re.compile(r"Using (?:DeepSeek's |standard )?(\w+) KV cache format[\w ]*")
_ENGINE = re.compile(r", kv_cache_dtype=(\w+), device_config=")
_MODEL = re.compile(r", dtype=torch\.(\w+), max_seq_len=")


@dataclass(frozen=True)
class Seen:
    # As it was told, "auto" where it was; and what that is, None: not known.
    told: str
    dtype: Optional[str]
    evidence: str
    place: str


class KvTruth:
    """Hears the log of one start; what is nearest to the memory counts most."""

    def __init__(self, auto: Optional[str] = None) -> None:
        """`auto`: what layers take where all else says "auto" and nobody tells of it; None: the model's dtype."""
        self._auto = auto
        self._layers: list[Seen] = []
        self._engines: list[Seen] = []
        self._model: Optional[str] = None

    def hear(self, line: str) -> None:
        if "kv_cache_dtype=" in line:
            model, engine = _MODEL.search(line), _ENGINE.search(line)
            self._model = model[1] if model else self._model
            if engine:
                told = f"kv_cache_dtype={engine[1]}"
                if engine[1] == _AUTO and self._model and not self._auto:
                    told += f", dtype=torch.{self._model}"
                self._engines.append(self._seen(engine[1], told, "config of the engine in its log"))
        elif "KV cache format" in line:
            layer = _LAYER.search(line)
            if layer:
                self._layers.append(self._seen(layer[1], layer[0], "attention layer in its log"))

    def places(self, cache_config: Mapping[str, str]) -> list[Seen]:
        """`cache_config`: labels of vllm:cache_config_info."""
        told = cache_config.get("cache_dtype")
        evidence = f'vllm:cache_config_info{{cache_dtype="{told}"}}'
        return [
            *self._layers,
            *self._engines,
            *([] if told is None else [self._seen(told, evidence, "its /metrics")]),
        ]

    def _seen(self, told: str, evidence: str, place: str) -> Seen:
        return Seen(told, (self._auto or self._model) if told == _AUTO else told, evidence, place)


def dtype_of(places: Sequence[Seen]) -> Optional[str]:
    """The type it has; "auto" where nothing tells more; None: nothing is told."""
    known = next((seen.dtype for seen in places if seen.dtype is not None), None)
    return known or (places[0].told if places else None)


def lost(places: Sequence[Seen], accepted: Optional[Sequence[str]]) -> Optional[Seen]:
    """The first place that tells of a type other than these; None: the wish was carried out as far as anything tells."""
    if accepted is None:
        return None
    return next((seen for seen in places if seen.dtype is not None and seen.dtype not in accepted), None)
