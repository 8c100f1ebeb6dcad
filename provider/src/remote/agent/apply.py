"""Carries out the steps of a plan, in order, under the server's lock."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Callable, Optional

from agent import (
    checkpoint_use,
    environment_use,
    events,
    fetch,
    host_turn,
    install,
    last_good,
    launch,
    launch_files,
    lock,
    manager_choice,
    overlay,
    overlay_use,
    ownership,
    paths,
    redact,
    registry,
    restart_policy,
    run_record,
    settle,
    start_check,
    start_notes,
    state_folder,
    state_guard,
    stop,
    stop_intent,
    wait,
)
from agent.failure import AgentFailure


def run(request: dict[str, Any]) -> dict[str, Any]:
    """ApplyResult of remote/protocol.ts: one result a step. A wait that does not end "ready" is the last one.

    A step "return" is the start and the wait of what was ready last, and has the results of both.

    A start holds the turn of the whole host as well, until the wait after it has ended: two servers that
    start together could both take the same port or GPU. Where a server is stopped for it, it has its turn, and
    what it needs was looked at, before that: until then the server serves. Stops alone need no turn.
    """
    server_id = request["serverId"]
    state_guard.demand_private()
    with lock.held(paths.server_folder(server_id) / "lock", request["client"], request["lockWaitSeconds"]):
        try:
            lock.forget_dead_holder(host_turn.file())
            _demand_expected(server_id, request["expect"])
            _withdraw_stop_intent(server_id, request["steps"])
            return {"steps": _carry_out_all(server_id, request)}
        finally:
            state_folder.remove_unclaimed(server_id)


def _carry_out_all(server_id: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    steps = [each for step in request["steps"] for each in _spelled_out(server_id, step)]
    is_return = len(steps) != len(request["steps"])
    starting = next((step for step in steps if step["kind"] == "start"), None)
    if starting is not None:
        launch_files.demand_room(server_id)
        manager_choice.choose(server_id, starting["launch"])
        start_notes.tell(server_id, starting["launch"])
    has_turn = False
    with ExitStack() as host:
        for step in steps:
            kind = step["kind"]
            if starting is not None and kind in ("stop", "start") and not has_turn:
                host.enter_context(host_turn.held(request["client"], request["lockWaitSeconds"]))
                has_turn = True
                # The start looks by itself; before a stop it would be too late then.
                if kind == "stop":
                    start_check.demand(server_id, starting["launch"])
            events.emit({"event": "step", "kind": kind, "state": "begin"})
            result = _carry_out(server_id, step)
            events.emit({"event": "step", "kind": kind, "state": "end"})
            results.append(result)
            if kind == "wait":
                host.close()
                if result["wait"]["outcome"] != "ready":
                    restart_policy.suspend(server_id)
                    break
                last_good.drop(server_id)
                # What failed is still declared, and is going to be tried again.
                if not is_return:
                    overlay_use.drop_earlier(server_id)
                    checkpoint_use.drop_earlier(server_id)
                    environment_use.drop_earlier(server_id)
    return results


def _spelled_out(server_id: str, step: dict[str, Any]) -> list[dict[str, Any]]:
    if step["kind"] != "return":
        return [step]
    found = last_good.find(registry.load(server_id))
    if found is None:
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot start {server_id} as it was: nothing of it was ever ready, need a launch that was",
            retryable=True,
        )
    redact.also({"secretEnvironment": found.secrets})
    return [found.start_step(), found.wait_step(step)]


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
    "install": lambda server_id, step: {"install": install.run(server_id, step)},
    "fetch": lambda server_id, step: {"fetch": fetch.run(server_id, step)},
    "overlay": overlay.build,
    "stop": lambda server_id, step: {"stop": stop.run(server_id, step)},
    "start": lambda server_id, step: {"start": launch.run(server_id, step)},
    "wait": lambda server_id, step: {"wait": wait.run(server_id, step)},
    "policy": settle.run,
    "confirm": lambda server_id, step: ownership.confirm(server_id, step["confirmed"]),
    "forget": lambda server_id, step: {"forget": ownership.forget(server_id, step.get("purgeModel") is True)},
}
