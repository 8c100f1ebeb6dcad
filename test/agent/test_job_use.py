"""job_use.py: who wants a job, and that it ends with the last of them."""

from __future__ import annotations

from agent import job, job_use, processes, records

from .job_case import KEY, TITLE, JobCase


class JobUseTest(JobCase):
    def test_a_server_wants_it_until_it_has_succeeded_and_then_nothing_is_kept(self) -> None:
        for server_id in ("chat-00000001", "chat-00000002"):
            self.record(server_id, owner={})
        job_use.note("chat-00000002", KEY)
        job.run(KEY, TITLE, lambda _report: {}, server_id="chat-00000001")
        self.assertTrue(job.folder(KEY).is_dir())
        job.run(KEY, TITLE, lambda _report: {}, server_id="chat-00000002")
        self.assertFalse(job.folder(KEY).exists())
        self.assertEqual([[], []], [job_use.wanted_by(f"chat-0000000{n}") for n in (1, 2)])

    def test_only_what_no_other_server_wants_is_ended_with_a_server(self) -> None:
        for server_id in ("chat-00000001", "chat-00000002"):
            self.record(server_id, owner={})
            job_use.note(server_id, KEY)
        self.follower("ann")
        self.until(self.starts)
        job_use.drop_all("chat-00000001")
        self.assertTrue(processes.is_same(*self.identity()))
        identity = self.identity()
        job_use.note("chat-00000001", KEY)
        job_use.drop_all("chat-00000001")
        (self.home / "go").touch()
        self.result("ann")
        job_use.drop_all("chat-00000002")
        self.assertFalse(processes.is_same(*identity))
        self.assertFalse(job.folder(KEY).exists())

    def test_what_a_cut_attempt_wanted_is_its_successors_and_is_not_ended(self) -> None:
        for server_id in ("chat-00000001", "chat-00000002"):
            self.record(server_id, owner={})
        job_use.note("chat-00000001", KEY)
        self.follower("ann")
        self.until(self.starts)
        job_use.hand_over("chat-00000001", "chat-00000002")
        job_use.drop_all("chat-00000001")
        self.assertTrue(processes.is_same(*self.identity()))
        self.assertEqual([KEY], job_use.wanted_by("chat-00000002"))

    def test_the_client_that_has_the_lock_of_the_server_is_on_record(self) -> None:
        self.record("chat-00000001", owner={}, lock={"client": "ann@laptop (shop/prod)"})
        seen = job.run(
            KEY,
            TITLE,
            lambda _report: records.read_json(job.folder(KEY) / "job.json"),
            server_id="chat-00000001",
        )
        self.assertEqual((KEY, TITLE, "ann@laptop (shop/prod)"), (seen["key"], seen["title"], seen["client"]))
