"""What the agent tells the client: one JSON object a line on stdout."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from agent import redact

STDOUT = 1

# Events whose texts may repeat what a server printed or what an error quoted.
_FREE_TEXT_EVENTS = ("error", "log", "waiting")

# Reentrant: the deadline is raised in the main thread, perhaps inside emit, and is itself told with emit.
_lock = threading.RLock()
_writing = False


def emit(event: dict[str, Any]) -> None:
    """Writes one event. A client that is gone ends the process, so that its locks fall.

    Lone surrogates and all else beyond ASCII travel as JSON escapes: no locale can break a line.
    """
    global _writing
    if event.get("event") in _FREE_TEXT_EVENTS:
        kind = event["event"]
        event = dict(redact.hide_deep(event), event=kind)
    line = (json.dumps(event) + "\n").encode("ascii")
    with _lock:
        _writing = True
        try:
            while line:
                line = line[os.write(STDOUT, line) :]
        except (BrokenPipeError, OSError):
            os._exit(1)
        finally:
            _writing = False


def is_writing() -> bool:
    """Whether a line is half written; the deadline waits for its end rather than tear it."""
    return _writing


def start_heartbeat(seconds: float = 5.0) -> None:
    """Emits "alive" every few seconds from a thread of its own: both ends notice a dead connection."""
    never = threading.Event()

    def beat() -> None:
        while not never.wait(seconds):
            emit({"event": "alive"})

    threading.Thread(target=beat, name="heartbeat", daemon=True).start()


def _after_fork() -> None:
    # The heartbeat thread does not exist in the child, but the lock it held would.
    global _lock, _writing
    _lock = threading.RLock()
    _writing = False


os.register_at_fork(after_in_child=_after_fork)
