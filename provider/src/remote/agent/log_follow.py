"""Op logs: the end of the log of a server's newest start, and then what is printed, over its restarts, until nobody listens."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Optional

from agent import events, logs, paths, records, redact
from agent.failure import AgentFailure
from agent.log_tail import LogTail

_LOOK_SECONDS = 0.25


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Emits "log" and "generation"; {generation} of the last log that was told. Raises LOG_NOT_FOUND.

    `generation`: that start alone; None: the newest, and with `follow` those after it. `lines`: so many of the end at first.
    A client that is gone ends it, as it ends every agent; so does a server that is deleted.
    """
    server_id = request["serverId"]
    # What was printed can repeat what the server was given.
    redact.also({"secretEnvironment": records.read_json(paths.server_folder(server_id) / "secrets.json")})
    generation = _generation(server_id, request["generation"])
    events.emit({"event": "generation", "generation": generation})
    tail = _Ending(server_id, generation, request["lines"]).tell()
    if not request["follow"]:
        return {"generation": generation}
    while paths.server_folder(server_id).is_dir():
        tail.poll()
        newest = _newest(server_id)
        if request["generation"] is None and newest is not None and newest > generation:
            tail.drain()
            generation = newest
            events.emit({"event": "generation", "generation": generation})
            tail = LogTail(logs.path(server_id, generation), events.emit)
        time.sleep(_LOOK_SECONDS)
    tail.drain()
    return {"generation": generation}


class _Ending:
    """The last lines of a log; what comes after them goes on from there."""

    def __init__(self, server_id: str, generation: int, lines: int) -> None:
        self._recent: deque[tuple[int, str]] = deque(maxlen=lines)
        self._is_told = False
        self._tail = LogTail(logs.path(server_id, generation), self._hear)

    def tell(self) -> LogTail:
        self._tail.catch_up()
        self._is_told = True
        if self._recent:
            events.emit(
                {
                    "event": "log",
                    "first": self._recent[0][0],
                    "lines": [line for _number, line in self._recent],
                }
            )
            self._recent.clear()
        return self._tail

    def _hear(self, event: dict[str, Any]) -> None:
        if self._is_told:
            events.emit(event)
        else:
            self._recent.extend(enumerate(event["lines"], event["first"]))


def _generation(server_id: str, wished: Optional[int]) -> int:
    known = logs.generations(server_id)
    if not paths.server_folder(server_id).is_dir():
        found = "this host has no record of it"
    elif not known:
        found = "it was never started here, or its logs were deleted"
    elif wished is not None and wished not in known:
        found = f"there is none of start {wished}, there are those of {', '.join(map(str, known))}"
    else:
        return known[-1] if wished is None else wished
    raise AgentFailure("LOG_NOT_FOUND", f"Cannot read the log of {server_id}: {found}")


def _newest(server_id: str) -> Optional[int]:
    known = logs.generations(server_id)
    return known[-1] if known else None
