"""The one real request that proves a server: which one fits what it serves, and what counts as its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Optional

from agent.http_call import Answer, Endpoint, ServerTrouble

# The first token can compile kernels on its way.
ANSWER_SECONDS = 300.0
_ROUTES_SECONDS = 30.0
_SUPPORTED_TASKS = re.compile(r"Supported tasks: \[([^\]]*)\]")

# Route -> probe, best first. Source: vLLM 0.32.0, launchers/api_server/routers.py, pooling/factories.py.
_BY_ROUTE = (
    ("/v1/completions", "completion"),
    ("/v1/embeddings", "embedding"),
    ("/classify", "classify"),
    ("/pooling", "pooling"),
)
# Task of the "Supported tasks:" log line (vLLM 0.32.0, entry.py:136) -> probe, best first.
_BY_TASK = (
    ("generate", "completion"),
    ("embed", "embedding"),
    ("classify", "classify"),
    ("token_embed", "pooling"),
    ("token_classify", "pooling"),
    ("plugin", "pooling"),
)


class WrongAnswer(Exception):
    """It answers, but not what was declared."""


def tasks_in(line: str) -> Optional[set[str]]:
    """Tasks of vLLM's log line about them; None for other lines."""
    found = _SUPPORTED_TASKS.search(line)
    return None if found is None else set(re.findall(r"\w+", found.group(1)))


def choose(endpoint: Endpoint, wish: str, tasks: Optional[set[str]]) -> str:
    """One of completion, chat, embedding, classify, pooling and health for a ProbeKind."""
    if wish != "auto":
        return wish
    if tasks is not None:
        return _first(_BY_TASK, tasks)
    answer = endpoint.get("/openapi.json", _ROUTES_SECONDS)
    described = answer.json() if answer.status == 200 else None
    if isinstance(described, dict) and isinstance(described.get("paths"), dict):
        return _first(_BY_ROUTE, described["paths"])
    raise WrongAnswer(
        "what it serves cannot be told (no /openapi.json, no `Supported tasks:` in its log), need readiness.probe"
    )


def ask(
    endpoint: Endpoint, kind: str, model: str, fingerprint: Optional[str], seconds: float = ANSWER_SECONDS
) -> None:
    """Returns when the probe was answered as it should; raises WrongAnswer or NoAnswer. `seconds`: of each request."""
    answer = _send(endpoint, kind, model, seconds)
    # 429: it has too much to do.
    if answer.status >= 500 or answer.status == 429:
        raise ServerTrouble(f"the {kind} probe gets HTTP {answer.status}: {answer.excerpt()}")
    if answer.status != 200:
        raise WrongAnswer(f"the {kind} probe was refused with HTTP {answer.status}: {answer.excerpt()}")
    if fingerprint is not None and kind in ("completion", "chat"):
        seen = _field(answer.json(), "system_fingerprint")
        if seen != fingerprint:
            raise WrongAnswer(f"its answer carries the fingerprint {seen}, need {fingerprint}")


def _send(endpoint: Endpoint, kind: str, model: str, seconds: float) -> Answer:
    one_token = {"model": model, "max_tokens": 1, "temperature": 0}
    if kind == "completion":
        # A prompt of token ids needs no tokenizer; some models take text only.
        answer = endpoint.post("/v1/completions", {**one_token, "prompt": [1]}, seconds)
        if answer.status in (400, 422):
            second = endpoint.post("/v1/completions", {**one_token, "prompt": "hi"}, seconds)
            return second if second.status == 200 else answer
        return answer
    if kind == "chat":
        said = [{"role": "user", "content": "hi"}]
        return endpoint.post("/v1/chat/completions", {**one_token, "messages": said}, seconds)
    if kind == "health":
        return endpoint.get("/health", seconds)
    path = {"embedding": "/v1/embeddings", "classify": "/classify", "pooling": "/pooling"}[kind]
    return endpoint.post(path, {"model": model, "input": "hi"}, seconds)


def _first(table: tuple[tuple[str, str], ...], there: Iterable[str]) -> str:
    """Nothing of the table (transcription only): its health has to do."""
    known = set(there)
    return next((kind for name, kind in table if name in known), "health")


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
