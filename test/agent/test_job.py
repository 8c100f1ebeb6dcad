"""job.py: long work on its own, one a key, joined by whoever wants it, gone with all it started."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

from agent import job, job_children, job_process, paths, processes, records, redact
from agent.failure import AgentFailure

from .job_case import KEY, TITLE, JobCase


class JobTest(JobCase):
    def test_the_result_of_the_body_comes_back_from_a_process_of_its_own(self) -> None:
        found = job.run(KEY, TITLE, lambda _report: {"pid": os.getpid(), "session": os.getsid(0)})
        self.assertNotEqual(os.getpid(), found["pid"])
        self.assertEqual(found["pid"], found["session"])

    def test_progress_is_told_with_null_for_what_is_left_out(self) -> None:
        def body(report: job.Report) -> dict[str, Any]:
            report({"phase": "install", "text": "unpacking", "done": 1})
            time.sleep(0.5)
            return {}

        job.run(KEY, TITLE, body)
        nothing = dict.fromkeys(("total", "bytesDone", "bytesTotal", "bytesPerSecond", "secondsLeft"))
        told = {"event": "progress", "phase": "install", "text": "unpacking", "done": 1, **nothing}
        self.assertEqual([told], self.told)

    def test_the_failure_of_the_body_is_the_failure_of_the_run_without_secrets(self) -> None:
        redact.learn({"apiKey": "sesame-open"})
        self.addCleanup(redact.learn, {})

        def body(_report: job.Report) -> dict[str, Any]:
            raise AgentFailure(
                "DISK_FULL", "Cannot x", evidence="had sesame-open", change="y", retryable=True
            )

        found = self.refused(body)
        told = {"code": "DISK_FULL", "summary": "Cannot x", "evidence": "had ***", "change": "y"}
        self.assertEqual({**told, "retryable": True}, found.to_error())
        [kept] = (job.folder(KEY) / "results").iterdir()
        self.assertNotIn("sesame-open", kept.read_text())

    def test_an_unexpected_error_names_its_line(self) -> None:
        found = self.refused(lambda _report: {"x": 1 // 0})
        self.assertEqual("AGENT_CRASHED", found.code)
        self.assertIn("ZeroDivisionError", str(found.evidence))

    def test_two_who_want_it_get_the_result_of_one(self) -> None:
        self.follower("ann")
        self.until(self.starts)
        self.follower("bob")
        (self.home / "go").touch()
        self.assertEqual([{"by": "ann"}] * 2, [self.result("ann"), self.result("bob")])
        self.assertEqual(["ann"], self.starts())

    def test_one_that_is_slow_to_look_gets_the_result_of_the_job_it_followed_though_another_was_run_since(
        self,
    ) -> None:
        slow = self.follower("ann")
        self.until(self.starts)
        identity = self.identity()
        os.kill(slow.pid, signal.SIGSTOP)
        (self.home / "go").touch()
        self.until(lambda: not processes.is_same(*identity))
        self.assertEqual({"by": "eve"}, job.run(KEY, TITLE, lambda _report: {"by": "eve"}))
        os.kill(slow.pid, signal.SIGCONT)
        self.assertEqual({"by": "ann"}, self.result("ann"))
        self.assertEqual(["ann"], self.starts())

    def test_results_of_long_ago_are_not_kept(self) -> None:
        for number in range(job_process.RESULTS_KEPT + 3):
            job.run(KEY, TITLE, lambda _report, number=number: {"number": number})
        kept = [records.read_json(file) for file in (job.folder(KEY) / "results").iterdir()]
        self.assertEqual(
            [{"result": {"number": number}} for number in range(2, job_process.RESULTS_KEPT + 3)],
            sorted(kept, key=lambda one: one["result"]["number"]),
        )

    def test_one_that_has_its_result_and_is_slow_to_end_is_not_joined(self) -> None:
        write = records.write_json

        def write_slowly(file: Path, value: Any) -> None:
            write(file, value)
            if file.parent.name == "results":
                time.sleep(0.5)

        with mock.patch.object(records, "write_json", write_slowly):
            found = [job.run(KEY, TITLE, lambda _report, n=number: {"number": n}) for number in (1, 2)]
        self.assertEqual([{"number": 1}, {"number": 2}], found)

    def test_two_who_start_it_in_the_same_instant_get_the_result_of_one(self) -> None:
        for name in ("ann", "bob"):
            self.follower(name)
        self.until(self.starts)
        (self.home / "go").touch()
        self.assertEqual(self.result("ann"), self.result("bob"))
        self.assertEqual(1, len(self.starts()))

    def test_it_goes_on_when_who_started_it_is_cut_off(self) -> None:
        first = self.follower("ann")
        self.until(self.starts)
        os.killpg(first.pid, signal.SIGKILL)
        self.follower("bob")
        (self.home / "go").touch()
        self.assertEqual({"by": "ann"}, self.result("bob"))

    def test_one_that_is_killed_is_started_again_once(self) -> None:
        self.follower("ann")
        self.until(self.starts)
        os.kill(self.identity()[0], signal.SIGKILL)
        self.until(lambda: len(self.starts()) == 2)
        (self.home / "go").touch()
        self.assertEqual({"by": "ann"}, self.result("ann"))

    def test_one_that_is_killed_twice_is_an_error_with_the_last_line_of_its_log(self) -> None:
        log = job.log_file(KEY)

        def body(_report: job.Report) -> dict[str, Any]:
            log.write_text("fetching\rshard 7 of 9\n\n")
            os.kill(os.getpid(), signal.SIGKILL)
            return {}

        found = self.refused(body)
        self.assertEqual(
            ("AGENT_CRASHED", "shard 7 of 9", True), (found.code, found.evidence, found.retryable)
        )
        self.assertEqual(
            "Cannot download org/m: its process was killed twice, need it to live until it is done",
            found.summary,
        )

    def test_what_it_started_ends_with_it_however_it_ends(self) -> None:
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                child_file = self.home / f"child-{number}"

                def body(
                    _report: job.Report, number: Any = number, child_file: Path = child_file
                ) -> dict[str, Any]:
                    argv = [sys.executable, "-c", "import time; time.sleep(600)"]
                    child = job_children.start(argv, dict(os.environ), job.log_file(KEY))
                    child_file.write_text(json.dumps([child.pid]))
                    if number is not None:
                        os.kill(os.getpid(), number)
                    return {}

                if number is None:
                    self.assertEqual({}, job.run(KEY, TITLE, body))
                else:
                    self.assertEqual("AGENT_CRASHED", self.refused(body).code)
                self.until(lambda: job_children.marked(str(job.folder(KEY))) == [])
                self.assert_nothing_runs()

    def test_a_cancelled_one_is_gone_with_its_children_when_that_returns(self) -> None:
        follower = self.follower("ann")
        self.until(self.starts)
        os.killpg(follower.pid, signal.SIGKILL)
        job.cancel(KEY)
        self.assert_nothing_runs()
        job.cancel(KEY)

    def test_what_the_hub_refused_to_somebody_else_is_asked_for_once_more(self) -> None:
        def body(_report: job.Report) -> dict[str, Any]:
            if not (self.home / "joined").exists():
                (self.home / "first").touch()
                while not (self.home / "joined").exists():
                    time.sleep(0.02)
                time.sleep(0.5)
                raise AgentFailure("HUB_GATED", "Cannot x")
            return {"ok": True}

        first = os.fork()
        if first == 0:
            try:
                job.run(KEY, TITLE, body)
            except AgentFailure as failure:
                os._exit(7 if failure.code == "HUB_GATED" else 1)
            os._exit(0)
        self.until((self.home / "first").exists)
        (self.home / "joined").touch()
        self.assertEqual({"ok": True}, job.run(KEY, TITLE, body))
        self.assertEqual(7, os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))

    def test_a_key_cannot_lead_out_of_the_folder(self) -> None:
        for key in ("", "../x", "a/b", ".."):
            with self.assertRaises(AgentFailure):
                job.folder(key)
        self.assertEqual(paths.state_root() / "jobs" / "hf-2.4.0", job.folder("hf-2.4.0"))
