"""Whether a server that looks healthy still answers a token. /health is 200 too while an engine hangs."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any, Optional

from agent import last_good, probe, secret_hash
from agent.http_call import Endpoint, NoAnswer
from agent.probe import WrongAnswer
from agent.registry import Server
from agent.sockets import reachable_address

ANSWER_SECONDS = 20.0
_METRICS_SECONDS = 5.0
# A connection that was closed in between says nothing.
_TRIES = 2
_PAUSE_SECONDS = 1.0

# One step of a busy engine can take longer than an answer may.
_PATIENCE_SECONDS = 40.0
_LOOK_SECONDS = 2.0

# What only ever grows, and only while the engine works. Our own request moves none of them before it is answered.
# Source: vLLM 0.32.0, v1/metrics/loggers.py.
_COUNTERS = re.compile(
    r"^(vllm:(?:prompt_tokens|generation_tokens|request_success)_total|vllm:iteration_tokens_total_count)(?:\{[^}]*\})? (\S+)",
    re.MULTILINE,
)
_WAITING = re.compile(r"^vllm:num_requests_waiting(?:\{[^}]*\})? (\S+)", re.MULTILINE)
_RUNNING = re.compile(r"^vllm:num_requests_running(?:\{[^}]*\})? (\S+)", re.MULTILINE)


def ask(server: Server) -> Optional[dict[str, Any]]:
    """{outcome, detail} of one request of the kind that the server was proven with; None: no request fits.

    "answered"; "busy": no answer in time, and meanwhile it worked for others; "unclear": nothing tells whether it did;
    "unanswered" and "refused": nobody gets a token, or not we. A server that is at work is never blamed.
    """
    ready, launch = server.ready_of_launch(), server.launch
    listen = server.listen()
    if ready is None or launch is None or listen is None or ready.get("probe") in (None, "health"):
        return None
    names = ready.get("modelNames") or launch["servedModelNames"]
    key = secret_hash.kept(server.server_id).get("VLLM_API_KEY")
    endpoint = Endpoint(reachable_address(listen["address"]), listen["port"], key)
    before = _work(endpoint)
    try:
        _ask(endpoint, str(ready["probe"]), str(names[0]), last_good.fingerprint_answered(launch))
    except WrongAnswer as error:
        return {"outcome": "refused", "detail": str(error)}
    except NoAnswer as error:
        return _judged(str(error), before, endpoint)
    return {"outcome": "answered", "detail": None}


def _ask(endpoint: Endpoint, kind: str, model: str, fingerprint: Optional[str]) -> None:
    began = time.monotonic()
    for left in reversed(range(_TRIES)):
        try:
            return probe.ask(endpoint, kind, model, fingerprint, ANSWER_SECONDS)
        except NoAnswer:
            # What took its time is not asked for a second time.
            if left == 0 or time.monotonic() - began >= ANSWER_SECONDS:
                raise
        time.sleep(_PAUSE_SECONDS)


def _judged(reason: str, before: Optional[_Work], endpoint: Endpoint) -> dict[str, Any]:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        after = _work(endpoint)
        if before is None or after is None:
            # Switched off, or as slow as everything else: it cannot be told from a server with too much to do.
            return {"outcome": "unclear", "detail": f"{reason}; its /metrics do not tell whether it works"}
        if any(value > before.done.get(name, 0.0) for name, value in after.done.items()):
            return {"outcome": "busy", "detail": f"{reason}; meanwhile it worked for others{after.load()}"}
        if before.running == 0 or time.monotonic() >= end:
            return {
                "outcome": "unanswered",
                "detail": f"{reason}; meanwhile it worked for nobody{after.load()}",
            }
        time.sleep(_LOOK_SECONDS)


@dataclass(frozen=True)
class _Work:
    done: dict[str, float]
    # Requests the engine was at, and those that wait for it to be.
    running: float
    waiting: float

    def load(self) -> str:
        """ " (3 running, 20 waiting)"; "": none."""
        if self.running == 0 and self.waiting == 0:
            return ""
        return f" ({self.running:.0f} running, {self.waiting:.0f} waiting)"


def _work(endpoint: Endpoint) -> Optional[_Work]:
    """None: it does not say."""
    try:
        answer = endpoint.get("/metrics", _METRICS_SECONDS)
    except NoAnswer:
        return None
    text = answer.body.decode("utf-8", "replace") if answer.status == 200 else ""
    done: dict[str, float] = {}
    for name, value in _COUNTERS.findall(text):
        done[name] = done.get(name, 0.0) + _number(value)
    if not done:
        return None
    running, waiting = (sum(map(_number, pattern.findall(text))) for pattern in (_RUNNING, _WAITING))
    return _Work(done, running, waiting)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
