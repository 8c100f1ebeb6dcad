"""Everything a server has to answer before it counts as ours and ready."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from agent import probe
from agent.http_call import Endpoint, NoAnswer, ServerTrouble
from agent.probe import WrongAnswer

_MODELS_SECONDS = 30.0
_METRICS_SECONDS = 10.0
_CACHE_CONFIG = re.compile(r"^vllm:cache_config_info\{(.*)\}", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Wanted:
    names: Sequence[str]
    model_path: str
    # ProbeKind of core/spec.ts.
    probe: str
    fingerprint: Optional[str]
    # Of the log line, None where it was not seen.
    tasks: Optional[set[str]]


def prove(endpoint: Endpoint, wanted: Wanted) -> dict[str, Any]:
    """ReadyRecord without generation and times. Raises WrongAnswer, or NoAnswer: not yet."""
    models = _models(endpoint)
    ours = _ours(models, wanted)
    kind = probe.choose(endpoint, wanted.probe, wanted.tasks)
    probe.ask(endpoint, kind, str(ours["id"]), wanted.fingerprint)
    longest = ours.get("max_model_len")
    return {
        "modelNames": [str(model.get("id")) for model in models],
        "modelRoot": ours.get("root"),
        "maxModelLen": longest if isinstance(longest, int) else None,
        "probe": kind,
        "cacheConfig": cache_config(endpoint),
    }


def cache_config(endpoint: Endpoint) -> dict[str, str]:
    """Labels of vllm:cache_config_info; {} where there is none (a pooling model, metrics switched off)."""
    try:
        answer = endpoint.get("/metrics", _METRICS_SECONDS)
    except NoAnswer:
        return {}
    found = _CACHE_CONFIG.search(answer.body.decode("utf-8", "replace")) if answer.status == 200 else None
    return {} if found is None else dict(_LABEL.findall(found.group(1)))


def _models(endpoint: Endpoint) -> list[dict[str, Any]]:
    answer = endpoint.get("/v1/models", _MODELS_SECONDS)
    if answer.status >= 500:
        raise ServerTrouble(f"/v1/models gets HTTP {answer.status}: {answer.excerpt()}")
    if answer.status in (401, 403):
        raise WrongAnswer(f"/v1/models refuses our API key with HTTP {answer.status}")
    listed = answer.json()
    data = listed.get("data") if isinstance(listed, dict) else None
    if answer.status != 200 or not isinstance(data, list):
        raise WrongAnswer(f"/v1/models answers HTTP {answer.status}: {answer.excerpt()}")
    return [model for model in data if isinstance(model, dict)]


def _ours(models: list[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
    """The entry of our first name, once all names are there with our path as their root."""
    by_name = {str(model.get("id")): model for model in models}
    for name in wanted.names:
        if name not in by_name:
            raise WrongAnswer(f"/v1/models has {sorted(by_name)}, need {name}")
        root = by_name[name].get("root")
        if root != wanted.model_path:
            raise WrongAnswer(f"/v1/models says that {name} is served from {root}, need {wanted.model_path}")
    return by_name[wanted.names[0]]
