"""One request in, events and one result or error out."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, NoReturn

from agent import deadline, events, redact
from agent.failure import AgentFailure, of_crash

PROTOCOL_VERSION = 1
EXIT_RESULT = 0
EXIT_ERROR = 2


def main(request_bytes: bytes) -> NoReturn:
    """Serves the request and ends the process; threads that still run do not hold it up."""
    _quiet_stdin()
    os.umask(0o077)
    events.emit({"event": "hello", "protocol": PROTOCOL_VERSION, "python": "%d.%d.%d" % sys.version_info[:3]})
    failure = None
    try:
        result = _serve(_parse(request_bytes))
    except AgentFailure as error:
        failure = error
    except deadline.DeadlinePassed:
        failure = AgentFailure(
            "AGENT_DEADLINE",
            "Cannot finish on the host: its deadline has passed, need more time or a host less busy",
            retryable=True,
        )
    except BaseException as error:
        failure = of_crash("the agent", error)
    deadline.cancel()
    if failure is None:
        events.emit({"event": "result", "result": result})
    else:
        events.emit({"event": "error", "error": failure.to_error()})
    sys.stderr.flush()
    os._exit(EXIT_RESULT if failure is None else EXIT_ERROR)


def _parse(request_bytes: bytes) -> dict[str, Any]:
    try:
        request = json.loads(request_bytes.decode("utf-8"))
    except ValueError as error:
        # Neither the text nor the exception's copy of it: it may be half a secret.
        place = getattr(error, "pos", getattr(error, "start", 0))
        raise _bad_request("no JSON at position %d of %d bytes" % (place, len(request_bytes))) from None
    if not isinstance(request, dict):
        raise _bad_request(f"a JSON {type(request).__name__}")
    redact.learn(request)
    if request.get("protocol") != PROTOCOL_VERSION:
        raise _bad_request("protocol %r, need %d" % (request.get("protocol"), PROTOCOL_VERSION))
    seconds = request.get("deadlineSeconds")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds <= 0:
        raise _bad_request(f"deadlineSeconds {seconds!r}, need seconds above 0")
    return request


def _serve(request: dict[str, Any]) -> Any:
    operation = _operation(request.get("op"))
    deadline.start(request["deadlineSeconds"])
    events.start_heartbeat()
    return operation(request)


def _operation(name: Any) -> Callable[[dict[str, Any]], Any]:
    # Imported when asked for: an observation does not pay for what starts servers.
    if name == "observe":
        from agent import observe

        return observe.run
    if name == "flags":
        from agent import flags

        return flags.run
    if name == "apply":
        from agent import apply

        return apply.run
    if name == "survey":
        from agent import survey

        return survey.run
    if name == "logs":
        from agent import log_follow

        return log_follow.run
    raise _bad_request(f"op {name!r}, need observe, apply, flags, survey or logs")


def _bad_request(found: str) -> AgentFailure:
    return AgentFailure("AGENT_CRASHED", f"Cannot read the request: found {found}")


def _quiet_stdin() -> None:
    # Nothing the agent starts may wait for input, and the channel has no more to give.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
