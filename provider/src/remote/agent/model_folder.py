"""The folder a server serves, be it a checkpoint or an overlay: whether it lost files since the server was started."""

from __future__ import annotations

import os
from collections.abc import Collection


def broken_links(model_path: str) -> list[str]:
    """Names of its links that lead nowhere, sorted. Raises OSError where it is no folder that can be read.

    Many a checkpoint has some and is none the worse for it: a README that was never downloaded, an editor's lock.
    """
    return sorted(entry.name for entry in os.scandir(model_path) if not os.path.exists(entry.path))


def broken_links_now(model_path: str) -> list[str]:
    """The same for the record of a start, which has to fail by itself where there is no folder."""
    try:
        return broken_links(model_path)
    except OSError:
        return []


def is_intact(model_path: str, broken_at_start: Collection[str]) -> bool:
    """Whether the folder is there, holds something, and no link leads nowhere that led somewhere at the start."""
    try:
        return bool(os.listdir(model_path)) and set(broken_links(model_path)) <= set(broken_at_start)
    except OSError:
        return False
