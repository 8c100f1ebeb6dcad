"""What a record must look like to be believed. Another hand can have written it, and one damaged record must not cost
the view of every other server: what does not fit counts as missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any], bool]


def fits(value: Any, shapes: Mapping[str, Shape], needed: frozenset[str] = frozenset()) -> bool:
    """Whether it is an object that has what is needed, and in which every field that has a shape fits it."""
    return (
        isinstance(value, dict)
        and needed <= value.keys()
        and all(shape(value[name]) for name, shape in shapes.items() if name in value)
    )


def text(value: Any) -> bool:
    return isinstance(value, str)


def number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def boolean(value: Any) -> bool:
    return isinstance(value, bool)


def optional(shape: Shape) -> Shape:
    return lambda value: value is None or shape(value)


def listed(shape: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(shape, value))


def by_name(shape: Shape) -> Shape:
    return lambda value: isinstance(value, dict) and all(map(shape, value.values()))


def record(**shapes: Shape) -> Shape:
    """An object that has all of these."""
    return lambda value: fits(value, shapes, frozenset(shapes))


_IDENTITY = record(pid=whole, startTicks=whole)
RUN: Mapping[str, Shape] = {
    "bootId": text,
    "supervisor": optional(_IDENTITY),
    "leader": optional(_IDENTITY),
    "sessions": optional(listed(record(sid=whole, startTicks=whole))),
    "generation": optional(whole),
    "startedAt": optional(text),
    "exits": listed(record(generation=whole, code=optional(whole), signal=optional(whole), at=text)),
    "shm": optional(listed(text)),
    "shmInodes": optional(by_name(whole)),
    "shmRemoved": optional(listed(text)),
}

LAUNCH: Mapping[str, Shape] = {
    "fingerprint": text,
    "executable": text,
    "modelPath": text,
    "listen": record(address=text, port=whole),
    "servedModelNames": listed(text),
    "restart": record(max=number, withinSeconds=number, delaySeconds=number),
    "manager": text,
    "managerWish": text,
    "startOnBoot": boolean,
    "logs": record(keep=whole, maxBytes=whole),
    "generation": whole,
    "gpuUuids": listed(text),
    "gpuBaselineMib": by_name(number),
    "brokenLinks": listed(text),
}

READY: Mapping[str, Shape] = {
    "generation": whole,
    "readyAt": text,
    "startSeconds": number,
    "modelNames": listed(text),
    "modelRoot": optional(text),
    "maxModelLen": optional(whole),
    "cacheConfig": by_name(text),
    "kvCacheDtype": optional(text),
    "probe": text,
}
# Earlier versions did not record what the KV cache is kept in.
READY_NEEDED = frozenset(READY) - {"kvCacheDtype"}
