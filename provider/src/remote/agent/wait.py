"""Step wait: watches one start until it is ready, dies, prints a fatal line, loses its port, hangs or runs out of time."""

from __future__ import annotations

import re
import time
from typing import Any, Optional

from agent import (
    drift_process,
    events,
    kv_truth,
    logs,
    paths,
    probe,
    process_age,
    processes,
    records,
    registry,
    run_record,
    sockets,
    unit_script,
)
from agent.failure import AgentFailure
from agent.http_call import Endpoint
from agent.kernel_watch import KernelWatch
from agent.log_tail import LogTail
from agent.port_watch import PortWatch
from agent.proof import Wanted
from agent.prover import Prover
from agent.vitality import Vitality

_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
# The first fatal line is often a wrapper; the true cause comes with the lines after it.
_SETTLE_SECONDS = 2.0
# A supervisor records an exit at once, a unit when nothing of it is left; when it is gone too nobody ever will.
_RECORD_SECONDS = 10.0
# The ends for which the kernel may know the reason.
_FAILED = ("exited", "fatal", "timeout", "hung")


def run(server_id: str, step: dict[str, Any]) -> dict[str, Any]:
    """WaitResult of remote/protocol.ts; writes ready.json when that is "ready"."""
    launch = registry.load_launch(server_id)
    found = run_record.read(server_id)
    if launch is None or found is None:
        raise AgentFailure(
            "CHANGED_MEANWHILE",
            f"Cannot wait for {server_id}: nothing was started, need a start",
            retryable=True,
        )
    return _Wait(server_id, step, launch, found).result()


class _Wait:
    def __init__(
        self, server_id: str, step: dict[str, Any], launch: dict[str, Any], found: dict[str, Any]
    ) -> None:
        self.server_id = server_id
        self.step = step
        self.launch = launch
        self.run = found
        self.generation = run_record.generation_of(found)
        self.tail = LogTail(logs.path(server_id, self.generation), events.emit)
        self.fatal = [re.compile(pattern, re.MULTILINE) for pattern in step["fatalPatterns"]]
        self.port = PortWatch(launch["listen"]["address"], launch["listen"]["port"])
        self.tasks: Optional[set[str]] = None
        self.kernel = KernelWatch(launch, found)
        self.kv_cache = kv_truth.KvTruth(step.get("kvCacheAuto"))
        self.prover: Optional[Prover] = None
        self.vitality = Vitality(step["stallSeconds"], step["idlePatterns"], events.emit)
        self.began = time.monotonic()

    def result(self) -> dict[str, Any]:
        pause = _FIRST_PAUSE_SECONDS
        try:
            while True:
                before = self.tail.heard_bytes
                lines = self.tail.poll()
                self.vitality.hear(lines, self.tail.heard_bytes > before)
                outcome = self._outcome(lines)
                if outcome is not None:
                    return {**outcome, **(self.kernel.told() if outcome["outcome"] in _FAILED else {})}
                # Short while something happens, so that ready is seen when it is so.
                pause = _FIRST_PAUSE_SECONDS if lines else min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
                time.sleep(pause if self.prover is None else _FIRST_PAUSE_SECONDS)
        finally:
            if self.prover is not None:
                self.prover.give_up()
            self.tail.drain()

    def _outcome(self, lines: list[str]) -> Optional[dict[str, Any]]:
        fatal_line = self._hear(lines)
        self.kernel.look(self._members)
        if fatal_line is not None:
            self._settle()
            return {"outcome": "fatal", "line": fatal_line}
        exited = self._exited()
        if exited is not None:
            return exited
        if self.prover is None:
            lost = self.port.lost_to(self._members)
            if lost is not None:
                return lost
            if self.port.is_ours(self._members):
                self.prover = Prover(self._endpoint(), self._wanted())
        elif self.prover.refusal is not None:
            return {"outcome": "wrong-answer", "detail": self.prover.refusal}
        elif self.prover.proven is not None:
            return self._proven(self.prover.proven)
        hung = self.vitality.look(self._members)
        if hung is not None:
            return {**hung, **self._left_at()}
        waited = time.monotonic() - self.began
        if waited >= self.step["timeoutSeconds"]:
            return {
                "outcome": "timeout",
                "waitedSeconds": round(waited, 3),
                "activity": self.vitality.activity(),
                **self._left_at(),
            }
        return None

    def _left_at(self) -> dict[str, Any]:
        """How far it came."""
        return {
            "lastLine": self.tail.last_line or None,
            "unanswered": None if self.prover is None else self.prover.asks(),
        }

    def _members(self) -> list[processes.Process]:
        return processes.members_of(self.server_id, self.run)

    def _hear(self, lines: list[str]) -> Optional[str]:
        """The first line that a fatal pattern matches."""
        # One search over all of them first: a chatty start prints a hundred thousand lines between two looks.
        text = "\n".join(lines)
        self.kernel.hear(text)
        is_suspect = any(pattern.search(text) for pattern in self.fatal)
        for line in lines:
            self.port.hear(line)
            self.tasks = probe.tasks_in(line) or self.tasks
            self.kv_cache.hear(line)
            if is_suspect and any(pattern.search(line) for pattern in self.fatal):
                return line
        return None

    def _settle(self) -> None:
        end = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < end and self._exited() is None:
            self.tail.poll()
            time.sleep(0.1)

    def _exited(self) -> Optional[dict[str, Any]]:
        """Also when the supervisor has started the next generation already."""
        self.run = run_record.read(self.server_id) or self.run
        entry = run_record.exit_of(self.run, self.generation)
        if entry is None and run_record.generation_of(self.run) == self.generation:
            if run_record.living(self.run, "leader") is not None:
                return None
            entry = self._record_of_exit()
        code, number = (None, None) if entry is None else (entry["code"], entry["signal"])
        return {"outcome": "exited", "code": code, "signal": number}

    def _record_of_exit(self) -> Optional[dict[str, Any]]:
        """The leader is gone: gives a living supervisor a moment to say how."""
        end = time.monotonic() + _RECORD_SECONDS
        while True:
            has_supervisor = run_record.is_supervised(self.run)
            entry = run_record.exit_of(run_record.read(self.server_id) or self.run, self.generation)
            if entry is not None or not has_supervisor or time.monotonic() >= end:
                return entry
            time.sleep(_FIRST_PAUSE_SECONDS)

    def _endpoint(self) -> Endpoint:
        return Endpoint(sockets.reachable_address(self.port.address), self.port.port, self.step["apiKey"])

    def _wanted(self) -> Wanted:
        return Wanted(
            names=self.launch["servedModelNames"],
            model_path=self.launch["modelPath"],
            probe=self.step["probe"],
            fingerprint=self.step["fingerprint"],
            tasks=self.tasks,
        )

    def _proven(self, proven: dict[str, Any]) -> dict[str, Any]:
        # What was printed before it answered.
        fatal_line = self._hear(self.tail.poll())
        if fatal_line is not None:
            return {"outcome": "fatal", "line": fatal_line}
        places = self.kv_cache.places(proven["cacheConfig"])
        wanted = self.step.get("kvCacheDtypes")
        lost = kv_truth.lost(places, wanted)
        if wanted is not None and lost is not None:
            found = {"dtype": lost.dtype, "evidence": lost.evidence, "place": lost.place}
            return {"outcome": "kv-cache-dtype-lost", "wanted": wanted[0], **found}
        ready = self._ready({**proven, "kvCacheDtype": kv_truth.dtype_of(places)})
        return {"outcome": "ready", "ready": ready}

    def _ready(self, proven: dict[str, Any]) -> dict[str, Any]:
        ready = {
            "generation": self.generation,
            "readyAt": run_record.now(),
            "startSeconds": self._start_seconds(),
            **proven,
        }
        drift_process.note(self.server_id, self.run, self.launch)
        if self.run.get("unit") is not None:
            unit_script.note(self.server_id)
        records.write_json(paths.server_folder(self.server_id) / "ready.json", ready)
        return ready

    def _start_seconds(self) -> float:
        """Since the leader's process began."""
        return round(process_age.age_seconds(int(self.run["leader"]["startTicks"])), 3)
