"""run.json in the supervisor's hands: every change of it has a name here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

from agent import crash_loop, processes, run_record, shm
from agent.failure import AgentFailure


class RunFile:
    """`run` is what stands, or should stand, in the file. Exits and generations of earlier supervisors are kept."""

    def __init__(self, server_id: str, previous: Optional[dict[str, Any]]) -> None:
        self._server_id = server_id
        self._is_saved = False
        # The start that was asked for; what comes after it are automatic ones.
        self.asked = run_record.generation_of(previous) + 1
        self.run: dict[str, Any] = {
            "bootId": processes.boot_id(),
            "supervisor": _identity(os.getpid()),
            "leader": None,
            "sessions": [],
            "generation": run_record.generation_of(previous),
            "startedAt": None,
            "state": "restarting",
            "nextStartAt": None,
            "exits": [] if previous is None else previous.get("exits", []),
            "shm": [],
            # Which file each name meant when it was noted: names are used again.
            "shmInodes": {},
            # Names this supervisor took away itself, so that a stop can tell of them.
            "shmRemoved": [],
        }

    def next_generation(self) -> int:
        self.run["generation"] += 1
        return int(self.run["generation"])

    def started(self, pid: int) -> None:
        """Fails when it cannot be written: nothing may run that is not on record."""
        identity = _identity(pid)
        session = {"sid": pid, "startTicks": identity["startTicks"], "generation": self.run["generation"]}
        self.run.update(leader=identity, sessions=[session], startedAt=run_record.now())
        self.run.update(state="running", nextStartAt=None)
        run_record.write(self._server_id, self.run)
        self._is_saved = True

    def exited(
        self, code: Optional[int], number: Optional[int], has_served: bool, within_seconds: float
    ) -> None:
        entry = {
            "generation": self.run["generation"],
            "code": code,
            "signal": number,
            "at": run_record.now(),
            "served": has_served,
        }
        exits = [*self.run["exits"], entry]
        self.run["exits"] = crash_loop.trimmed(exits, run_record.KEPT_EXITS, self.asked, within_seconds)
        self._change(leader=None)

    def mapped(self, names: Iterable[str]) -> None:
        inodes = {**self.run["shmInodes"], **shm.inodes(names)}
        if inodes != self.run["shmInodes"]:
            self._change(shm=sorted({*self.run["shm"], *inodes}), shmInodes=inodes)

    def cleaned(self, removed: list[str], left: list[str], is_empty: bool) -> None:
        """`is_empty`: nothing of the session lives, so its number may be given to a stranger from now on."""
        sessions = [] if is_empty else self.run["sessions"]
        inodes = {name: inode for name, inode in self.run["shmInodes"].items() if name in left}
        self._change(shm=left, shmInodes=inodes, shmRemoved=removed, sessions=sessions)

    def waits(self, seconds: float) -> None:
        at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
        self._change(state="restarting", nextStartAt=run_record.iso(at))

    def finished(self, state: str) -> None:
        self._change(leader=None, state=state, nextStartAt=None)

    def save(self) -> None:
        """A full disk must not end the supervision: what could not be written now is written at the next look."""
        if self._is_saved:
            return
        try:
            run_record.write(self._server_id, self.run)
            self._is_saved = True
        except (AgentFailure, OSError):
            self._is_saved = False

    def _change(self, **fields: Any) -> None:
        self.run.update(fields)
        self._is_saved = False
        self.save()


def _identity(pid: int) -> dict[str, int]:
    found = processes.read_process(pid)
    return {"pid": pid, "startTicks": 0 if found is None else found.start_ticks}
