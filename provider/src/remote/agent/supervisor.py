"""The small service manager of one server: starts vLLM, records how it ends, cleans up after it, starts it again.

Forked from the agent; the only writer of run.json while it lives.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import Any, Optional

from agent import (
    crash_loop,
    ending,
    logs,
    processes,
    readiness,
    records,
    restart_policy,
    run_record,
    server_process,
    shm,
    sockets,
    stop_intent,
    temp_files,
)
from agent.children import Children
from agent.failure import AgentFailure
from agent.log_keeper import LogKeeper
from agent.run_file import RunFile
from agent.start_plan import Plan

_YOUNG_SECONDS = 120.0
_LOOK_YOUNG_SECONDS = 1.0
_LOOK_SECONDS = 5.0
# What a shell answers for a command that it cannot run.
_EXIT_CANNOT_EXECUTE = 127


class Supervisor:
    def __init__(self, plan: Plan, previous: Optional[dict[str, Any]]) -> None:
        self.plan = plan
        self.file = RunFile(plan.server_id, previous)
        self.children = Children()
        self.logs = LogKeeper(plan.server_id, plan.logs)
        # What others keep in shared memory; a start of ours adds to it.
        self.shm_before: frozenset[tuple[str, int]] = frozenset()
        self.restarts_at: list[float] = []
        # Starts in a row that ended before they served.
        self.unserved = 0

    def live(self, report: int) -> None:
        """Until the server is stopped or given up. Writes how the first start went to `report`, as one JSON object:
        {"pid"} or {"errno"} or {"failure": {code, summary}}."""
        refusal = self._start()
        _tell(report, refusal or {"pid": self.file.run["leader"]["pid"]})
        if refusal:
            self.file.finished("gave-up")
            return
        while True:
            self._watch()
            if self._clean_up():
                self.file.finished("gave-up")
                return
            state = self._restart()
            if state != "running":
                self.file.finished(state)
                return

    def _start(self) -> dict[str, Any]:
        """Starts the next generation; {} or why it does not run, which is then recorded like an exit."""
        generation = self.file.next_generation()
        self.shm_before = shm.present()
        refusal: dict[str, Any] = {}
        try:
            # Somebody tidied up since: months lie between two starts.
            records.make_folder(logs.folder(self.plan.server_id))
            temp_files.prepare(self.plan.temp)
            self.logs.make_room(self._first_failure())
            log = logs.path(self.plan.server_id, generation)
            self.children.watch(server_process.spawn(self.plan.command, log, self.file.started))
        except server_process.CannotExecute as error:
            refusal = {"errno": error.error}
        except AgentFailure as failure:
            refusal = {"failure": {"code": failure.code, "summary": failure.summary}}
        except OSError as error:
            refusal = {"failure": {"code": "AGENT_CRASHED", "summary": f"Cannot start a process: {error}"}}
        if refusal:
            self._exited(_EXIT_CANNOT_EXECUTE, None, has_served=False)
        return refusal

    def _watch(self) -> None:
        """Returns when the leader has ended and that is on record."""
        started = time.monotonic()
        generation = int(self.file.run["generation"])
        has_served = False
        while self.children.leader_status is None:
            if self.children.is_told_to_stop:
                self._end()
                self.children.reap()
                continue
            self._note_shm(_pids_of_session(self.file.run))
            self.file.save()
            has_served = has_served or self._serves()
            is_nearly_full = self.logs.bound(generation)
            is_young = time.monotonic() - started < _YOUNG_SECONDS
            self.children.pause(_LOOK_YOUNG_SECONDS if is_young or is_nearly_full else _LOOK_SECONDS)
        status = self.children.leader_status
        has_served = has_served or self._has_served([])
        if os.WIFSIGNALED(status):
            self._exited(None, os.WTERMSIG(status), has_served)
        else:
            self._exited(os.WEXITSTATUS(status), None, has_served)
        self.unserved = 0 if has_served else self.unserved + 1

    def _exited(self, code: Optional[int], number: Optional[int], has_served: bool) -> None:
        self.logs.bound(int(self.file.run["generation"]))
        self.file.exited(code, number, has_served, self._policy().within_seconds)

    def _first_failure(self) -> Optional[int]:
        run = self.file.run
        return crash_loop.first_generation(run["exits"], self.file.asked, self._policy().within_seconds)

    def _serves(self) -> bool:
        return bool(sockets.listeners(self.plan.port)) and self._has_served(self._members())

    def _has_served(self, members: list[processes.Process]) -> bool:
        try:
            return readiness.has_served(self.plan.server_id, self.file.run, members, self.plan.port)
        except (AgentFailure, OSError):
            return False  # a home on the network that cannot be read for a while must not end the supervision

    def _end(self) -> None:
        self._note_held(self._members())
        leader = run_record.living(self.file.run, "leader")
        is_ready = self._has_served(self._members())
        ending.end_server(
            self._members,
            self.children.pause,
            self._note_held,
            leader,
            self.plan.drain_seconds if is_ready else None,
        )

    def _clean_up(self) -> list[processes.Process]:
        """Ends what outlived the leader and takes away what it left; returns what could not be ended."""
        self._note_held(self._members())
        left = ending.end_orphans(self._members, self.children.pause, self._note_held)
        self.children.reap()
        recorded = self.file.run["shm"]
        removed = shm.remove_unused(recorded, self.file.run["shmInodes"])
        if not left:
            temp_files.empty(self.plan.temp)
        self.file.cleaned(removed, shm.existing(recorded), not left)
        return left

    def _restart(self) -> str:
        """Waits and starts again: "running", or "stopped" (on purpose) or "gave-up" (limit reached)."""
        while True:
            if self._is_unwanted():
                return "stopped"
            policy = self._policy()
            if not self._allows(policy):
                return "gave-up"
            self.file.waits(policy.delay_seconds)
            if not self._wait(policy.delay_seconds):
                return "stopped"
            # Limits can have changed meanwhile: whoever watched the start that failed has forbidden the next one.
            if not self._allows(self._policy()):
                return "gave-up"
            self.restarts_at.append(time.monotonic())
            if not self._start():
                return "running"
            self.unserved += 1

    def _policy(self) -> restart_policy.RestartPolicy:
        return restart_policy.current(self.plan.server_id, self.plan.restart)

    def _allows(self, policy: restart_policy.RestartPolicy) -> bool:
        return restart_policy.allows(policy, self.restarts_at, self.unserved, time.monotonic())

    def _wait(self, seconds: float) -> bool:
        """False: the server is not wanted any more."""
        deadline = time.monotonic() + seconds
        while not self._is_unwanted():
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            self.children.pause(min(0.25, left))
        return False

    def _is_unwanted(self) -> bool:
        return self.children.is_told_to_stop or stop_intent.is_declared(self.plan.server_id)

    def _members(self) -> list[processes.Process]:
        """Also what left the session with a clean environment: orphans come to this process, and nobody else's do."""
        seen = processes.Snapshot()
        known = processes.members_of(self.plan.server_id, self.file.run, seen)
        below = processes.descendants_of(os.getpid(), seen)
        return known + [process for process in below if process not in known]

    def _note_held(self, members: list[processes.Process]) -> None:
        self._note_shm([member.pid for member in members])

    def _note_shm(self, pids: list[int]) -> None:
        self.file.mapped(shm.names_new_to(pids, self.shm_before))


def _pids_of_session(run: dict[str, Any]) -> list[int]:
    """One cheap system call a process: this is asked again and again for as long as the server lives."""
    sessions = {session["sid"] for session in run["sessions"]}
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _session_of(pid) in sessions]


def _session_of(pid: int) -> Optional[int]:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _tell(report: int, outcome: dict[str, Any]) -> None:
    """To the agent that waits for the start; it may be gone with its connection."""
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(outcome).encode())
    os.close(report)
