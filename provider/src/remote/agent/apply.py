"""Carries out the steps of a plan, in order, under the server's lock."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, Optional

from agent import (
    events,
    launch,
    launch_files,
    lock,
    manager_choice,
    overlay,
    overlay_use,
    ownership,
    paths,
    restart_policy,
    run_record,
    settle,
    state_guard,
    stop,
    stop_intent,
    wait,
)
from agent.failure import AgentFailure


def run(request: dict[str, Any]) -> dict[str, Any]:
    """ApplyResult of remote/protocol.ts: one result a step. A wait that does not end "ready" is the last one.

    A start holds the lock of the whole host as well, until the wait after it has ended: two servers that
    start together could both take the same port or GPU. Stops need no turn.
    """
    server_id = request["serverId"]
    state_guard.demand_private()
    with lock.held(paths.server_folder(server_id) / "lock", request["client"], request["lockWaitSeconds"]):
        try:
            lock.forget_dead_holder(_host_lock())
            _demand_expected(server_id, request["expect"])
            _withdraw_stop_intent(server_id, request["steps"])
            return {"steps": _carry_out_all(server_id, request)}
        finally:
            ownership.remove_unclaimed(server_id)


def _host_lock() -> Path:
    return paths.state_root() / "host.lock"


def _carry_out_all(server_id: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for step in request["steps"]:
        if step["kind"] == "start":
            launch_files.demand_room(server_id)
            manager_choice.choose(server_id, step["launch"])
    with ExitStack() as host:
        for step in request["steps"]:
            kind = step["kind"]
            if kind == "start":
                host.enter_context(lock.held(_host_lock(), request["client"], request["lockWaitSeconds"]))
            events.emit({"event": "step", "kind": kind, "state": "begin"})
            result = _carry_out(server_id, step)
            events.emit({"event": "step", "kind": kind, "state": "end"})
            results.append(result)
            if kind == "wait":
                host.close()
                if result["wait"]["outcome"] != "ready":
                    restart_policy.suspend(server_id)
                    break
                overlay_use.drop_earlier(server_id)
    return results


def _demand_expected(server_id: str, expect: dict[str, Any]) -> None:
    """What the plan was made for is what is there, or the plan is made again."""
    found = run_record.read(server_id)
    leader = run_record.living(found, "leader")
    seen: tuple[int, Optional[int]] = (run_record.generation_of(found), None if leader is None else leader[0])
    wanted = (expect["generation"], expect["leaderPid"])
    if seen != wanted:
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot change {server_id}: found start {seen[0]} with process {seen[1]}, need start {wanted[0]} with "
            f"process {wanted[1]} as the plan saw them",
            retryable=True,
        )


def _withdraw_stop_intent(server_id: str, steps: list[dict[str, Any]]) -> None:
    """A stop that was cut off before it ended anything must not keep a server that is wanted from restarting."""
    is_supervised = run_record.is_supervised(run_record.read(server_id))
    if is_supervised and all(step["kind"] != "stop" for step in steps):
        stop_intent.withdraw(server_id)


def _carry_out(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    return {"kind": step["kind"], **(_STEPS[step["kind"]](server_id, step) or {})}


_STEPS: dict[str, Callable[[str, dict[str, Any]], Optional[dict[str, Any]]]] = {
    "claim": ownership.claim,
    "overlay": overlay.build,
    "stop": lambda server_id, step: {"stop": stop.run(server_id, step)},
    "start": lambda server_id, step: {"start": launch.run(server_id, step)},
    "wait": lambda server_id, step: {"wait": wait.run(server_id, step)},
    "policy": settle.run,
    "confirm": lambda server_id, step: ownership.confirm(server_id, step["confirmed"]),
    "forget": lambda server_id, _step: ownership.forget(server_id),
}
