"""A process that is nobody's, and a record that says otherwise."""

from __future__ import annotations

import subprocess
import sys
from typing import Optional

from agent import processes, records
from test.agent.acting import ApplyCase


class StrangersCase(ApplyCase):
    def stranger(self, code: str = "", user: Optional[int] = None) -> processes.Process:
        """A process in a session of its own, without any mark of ours; it has run `code`, where it is this user's."""
        python = [sys.executable, "-c", f"{code}\nprint('up', flush=True)\nimport time\ntime.sleep(600)"]
        # Another user may not be let into this Python's folder.
        shell = ["/bin/sh", "-c", "echo up; exec sleep 600"]
        child = subprocess.Popen(
            python if user is None else shell,
            stdout=subprocess.PIPE,
            start_new_session=True,
            user=user,
        )
        assert child.stdout is not None
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertEqual(b"up\n", child.stdout.readline())
        found = processes.read_process(child.pid)
        assert found is not None
        return found

    def record(self, pid: int, ticks: int, **changes: object) -> None:
        """run.json as a supervisor with these numbers would have written it, for a leader with the same."""
        identity = {"pid": pid, "startTicks": ticks}
        run = {
            "bootId": processes.boot_id(),
            "supervisor": identity,
            "leader": identity,
            "sessions": [{"sid": pid, "startTicks": ticks, "generation": 1}],
            "generation": 1,
            "startedAt": "2026-12-01T00:00:00.000Z",
            "state": "running",
            "nextStartAt": None,
            "exits": [],
            "shm": [],
            **changes,
        }
        records.write_json(self.state() / "run.json", run)

    def assert_lives(self, stranger: processes.Process) -> None:
        self.assertTrue(processes.is_same(stranger.pid, stranger.start_ticks), stranger)
