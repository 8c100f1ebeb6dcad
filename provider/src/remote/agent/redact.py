"""Keeps secret values of the request out of every text that leaves the host."""

from __future__ import annotations

import json
import threading
from typing import Any

from agent import plain_setting

# A value this short is no secret, and hiding it would make texts unreadable.
SHORTEST_SECRET = 4

_secrets: tuple[str, ...] = ()
# Looks at several servers learn at the same time.
_lock = threading.Lock()


def learn(request: Any) -> None:
    """Remembers every secret value of a request: secretEnvironment maps, apiKey and token, at any depth."""
    global _secrets
    _secrets = ()
    also(request)


def also(record: Any) -> None:
    """Remembers those of a record beside what is known."""
    global _secrets
    found: set[str] = set()
    _collect(record, found)
    with _lock:
        spellings = set(_secrets)
        for value in found:
            if plain_setting.is_plain_word(value):
                continue
            spellings.update((value, repr(value)[1:-1], json.dumps(value)[1:-1]))
        # Longest first: a secret that contains another one must go as a whole.
        _secrets = tuple(sorted((s for s in spellings if len(s) >= SHORTEST_SECRET), key=len, reverse=True))


def hide(text: str) -> str:
    """The text with every known secret replaced by ***."""
    for secret in _secrets:
        text = text.replace(secret, "***")
    return text


def hide_deep(value: Any) -> Any:
    """Like `hide` for every string inside a JSON value; keys stay as they are."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [hide_deep(item) for item in value]
    if isinstance(value, dict):
        return {key: hide_deep(item) for key, item in value.items()}
    return value


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, list):
        for item in value:
            _collect(item, found)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key in ("apiKey", "token") and isinstance(item, str):
            found.add(item)
        elif key == "secretEnvironment" and isinstance(item, dict):
            found.update(
                text
                for name, text in item.items()
                if isinstance(text, str) and not plain_setting.is_plain(name, text)
            )
        else:
            _collect(item, found)
