"""Answers to completion, chat and embedding requests: deterministic words, one a token."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable

from .http_server import Response, json_response

WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "runs", "on")


@dataclass(frozen=True)
class Model:
    names: list[str]
    max_len: int
    has_tokenizer: bool
    fingerprint: str | None
    token_seconds: float
    vocabulary: int


def error(message: str, kind: str, code: int, param: str | None = None) -> Response:
    return json_response({"error": {"message": message, "type": kind, "param": param, "code": code}}, code)


def _refusal(model: Model, request: dict[str, Any], prompt: Any) -> Response | None:
    name = request.get("model")
    if name and name not in model.names:
        return error(
            f"The model `{name}` does not exist. Valid aliases: {', '.join(model.names)}.",
            "NotFoundError",
            404,
            "model",
        )
    if isinstance(prompt, str) and not model.has_tokenizer:
        return error("Tokenizer not available when `skip_tokenizer_init=True`", "BadRequestError", 400)
    count = prompt_tokens(prompt)
    if count + 1 > model.max_len:
        return error(
            f"This model's maximum context length is {model.max_len} tokens. However, you requested 1 output tokens and your prompt contains "
            f"at least {count} input tokens, for a total of at least {count + 1} tokens. Please reduce the length of the input prompt or the "
            "number of requested output tokens.",
            "BadRequestError",
            400,
            "input_tokens",
        )
    return None


def prompt_tokens(prompt: Any) -> int:
    if isinstance(prompt, str):
        return len(prompt.split())
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], (list, str)):
        return sum(prompt_tokens(part) for part in prompt)
    return len(prompt) if isinstance(prompt, list) else 0


def complete(model: Model, request: dict[str, Any], chat: bool, aborted: Callable[[], bool]) -> Response:
    """`aborted` is asked before each token: draining servers and dead engines end a request there."""
    prompt = (
        " ".join(str(message.get("content", "")) for message in request.get("messages", []))
        if chat
        else request.get("prompt")
    )
    if chat and not model.has_tokenizer:
        return error("", "InternalServerError", 500)
    if not chat and (prompt is None or prompt == "" or prompt == []):
        return error(
            "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)",
            "BadRequestError",
            400,
            "prompt",
        )
    refusal = _refusal(model, request, prompt)
    if refusal is not None:
        return refusal
    wanted = int(request.get("max_completion_tokens") or request.get("max_tokens") or 16)
    wanted = min(wanted, model.max_len - prompt_tokens(prompt))
    head = {
        "id": f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex[:16]}",
        "object": ("chat.completion" if chat else "text_completion"),
        "created": int(time.time()),
        "model": request.get("model") or model.names[0],
    }
    if request.get("stream"):
        return Response(200, _stream(model, head, wanted, chat, aborted), "text/event-stream; charset=utf-8")
    made = 0
    while made < wanted and not aborted():
        time.sleep(model.token_seconds)
        made += 1
    reason = "length" if made == wanted else "abort"
    return json_response(
        _whole(model, head, " ".join(_word(index) for index in range(made)), prompt, made, reason, chat)
    )


def _word(index: int) -> str:
    return WORDS[index % len(WORDS)]


def _whole(
    model: Model, head: dict[str, Any], text: str, prompt: Any, made: int, reason: str, chat: bool
) -> dict[str, Any]:
    text = text if model.has_tokenizer else ""
    choice: dict[str, Any] = {
        "index": 0,
        "logprobs": None,
        "finish_reason": reason,
        "stop_reason": None,
        "token_ids": None,
    }
    if chat:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": None, "tool_calls": []},
            **choice,
        }
    else:
        choice = {
            "index": 0,
            "text": text,
            **choice,
            "prompt_logprobs": None,
            "prompt_token_ids": None,
            "routed_experts": None,
        }
    count = prompt_tokens(prompt)
    usage = {
        "prompt_tokens": count,
        "total_tokens": count + made,
        "completion_tokens": made,
        "prompt_tokens_details": None,
        "completion_tokens_details": None,
    }
    tail = {"usage": usage, "kv_transfer_params": None, "ec_transfer_params": None, "metrics": None}
    return {
        **head,
        "choices": [choice],
        "service_tier": None,
        "system_fingerprint": model.fingerprint,
        **tail,
    }


def _stream(
    model: Model, head: dict[str, Any], wanted: int, chat: bool, aborted: Callable[[], bool]
) -> Iterator[str]:
    if chat:
        head = {**head, "object": "chat.completion.chunk"}
    for index in range(wanted):
        stop = aborted()
        if not stop:
            time.sleep(model.token_seconds)
        text = (
            (_word(index) if index == 0 else " " + _word(index)) if model.has_tokenizer and not stop else ""
        )
        reason = "abort" if stop else ("length" if index == wanted - 1 else None)
        piece = {"delta": {"content": text}} if chat else {"text": text}
        choice = {"index": 0, **piece, "logprobs": None, "finish_reason": reason, "stop_reason": None}
        chunk = {**head, "choices": [choice], **({"system_fingerprint": model.fingerprint} if reason else {})}
        yield f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n"
        if stop:
            break
    yield "data: [DONE]\n\n"


def embed(model: Model, request: dict[str, Any]) -> Response:
    given = request.get("input")
    refusal = _refusal(model, request, given)
    if refusal is not None:
        return refusal
    many = given if isinstance(given, list) and given and not isinstance(given[0], int) else [given]
    data = [
        {"index": index, "object": "embedding", "embedding": [0.5, -0.5, 0.5, -0.5]}
        for index in range(len(many))
    ]
    count = prompt_tokens(given)
    return json_response(
        {
            "id": f"embd-{uuid.uuid4().hex[:16]}",
            "object": "list",
            "created": int(time.time()),
            "model": request.get("model") or model.names[0],
            "data": data,
            "usage": {
                "prompt_tokens": count,
                "total_tokens": count,
                "completion_tokens": 0,
                "prompt_tokens_details": None,
            },
        }
    )
