"""A job of this test, with followers in processes of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from agent import events, job, job_children, processes, records
from agent.failure import AgentFailure

from . import AGENT_FOLDER
from .bed import HostCase

KEY = "fetch-0a1b"
TITLE = "download org/m"
# A follower in a process of its own: the job appends its name to `starts`, and ends when `go` is there.
FOLLOW = """
import sys, os, time, json; sys.path.insert(0, %r)
from agent import job
name, folder = sys.argv[1:]
def body(report):
    with open(folder + "/starts", "a") as file:
        file.write(name + "\\n")
    report({"phase": "download", "text": "org/m", "done": 1, "total": 2})
    while not os.path.exists(folder + "/go"):
        time.sleep(0.02)
    return {"by": name}
print("up")
try:
    found = job.run(%r, %r, body)
except Exception as error:
    found = {"error": error.code}
with open(folder + "/result-" + name, "w") as file:
    json.dump(found, file)
sys.stdin.read()
"""


class JobCase(HostCase):
    def setUp(self) -> None:
        super().setUp()
        self.told: list[dict[str, Any]] = []
        kept = events.emit
        events.emit = self.told.append
        self.addCleanup(setattr, events, "emit", kept)
        self.addCleanup(job.cancel, KEY)

    def until(self, claim: Callable[[], Any]) -> Any:
        end = time.monotonic() + 15
        while not (answer := claim()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return answer

    def follower(self, name: str) -> Any:
        return self.spawn(FOLLOW % (str(AGENT_FOLDER.parent), KEY, TITLE), name, str(self.home))

    def starts(self) -> list[str]:
        found = self.home / "starts"
        return found.read_text().split() if found.exists() else []

    def result(self, name: str) -> Any:
        return self.until(lambda: records.read_json(self.home / f"result-{name}"))

    def identity(self) -> tuple[int, int]:
        found = records.read_json(job.folder(KEY) / "job.json")
        return found["pid"], found["startTicks"]

    def refused(self, body: job.Body, **how: Any) -> AgentFailure:
        with self.assertRaises(AgentFailure) as caught:
            job.run(KEY, TITLE, body, **how)
        return caught.exception

    def assert_nothing_runs(self) -> None:
        self.assertEqual([], job_children.marked(str(job.folder(KEY))))
        self.assertFalse(processes.is_same(*self.identity()))
