"""Which exits of a server belong to one loop of crashes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Optional


def of(exits: Sequence[Mapping[str, Any]], asked: int, within_seconds: float) -> list[Mapping[str, Any]]:
    """The newest exits that followed on each other, oldest first; [] when nothing has ended since start `asked`.

    An exit follows on the one before when its start never served, or when it came within the window of the restart
    limit: a server that worked for a week and dies twice tells of one loop that begins with the first of these two.
    """
    since = [entry for entry in exits if entry["generation"] >= asked]
    begin = len(since) - 1
    while begin > 0 and _follows(since[begin - 1], since[begin], within_seconds):
        begin -= 1
    return since[max(begin, 0) :]


def trimmed(
    exits: Sequence[Mapping[str, Any]], count: int, asked: int, within_seconds: float
) -> list[Mapping[str, Any]]:
    """The newest `count`; the first of a longer loop stays among them."""
    kept = list(exits[-count:])
    loop = of(exits, asked, within_seconds)
    return [loop[0], *kept[1:]] if len(loop) > count else kept


def first_generation(exits: Sequence[Mapping[str, Any]], asked: int, within_seconds: float) -> Optional[int]:
    """Whose log tells how the loop began; None where there is none."""
    loop = of(exits, asked, within_seconds)
    return int(loop[0]["generation"]) if loop else None


def _follows(before: Mapping[str, Any], entry: Mapping[str, Any], within_seconds: float) -> bool:
    if entry.get("served") is False:
        return True
    try:
        return (_at(entry) - _at(before)).total_seconds() <= within_seconds
    except ValueError:
        return False  # another hand wrote it


def _at(entry: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(str(entry["at"]).replace("Z", "+00:00"))
