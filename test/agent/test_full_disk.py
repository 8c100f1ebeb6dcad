"""A disk without room: what would write says so, and what is in the way can still be stopped and forgotten.

Files may not grow here: writing fails as on a full disk (EFBIG instead of ENOSPC), names can still be made.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from agent import events, paths, run_record, stop_intent
from agent.failure import AgentFailure
from test.agent.acting import ActingCase, wait_step

OWNER = {
    "urn": "urn:chat",
    "project": "shop",
    "stack": "prod",
    "name": "chat",
    "createdBy": "ann@laptop",
    "createdAt": "2026-12-01T00:00:00.000Z",
    "confirmed": False,
}


class FullDiskTest(ActingCase):
    def setUp(self) -> None:
        super().setUp()
        # What is told goes to the client, not to the disk.
        hear, say = os.pipe()
        self.addCleanup(os.close, hear)
        self.addCleanup(os.close, say)
        self._patch(events, "STDOUT", say)

    @contextmanager
    def full(self) -> Iterator[None]:
        kept = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, kept[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, kept)

    def claim(self) -> dict[str, object]:
        return {"kind": "claim", "owner": {**OWNER, "serverId": self.server_id}}

    def refused(self, *steps: dict[str, object]) -> AgentFailure:
        with self.full(), self.assertRaises(AgentFailure) as caught:
            self.apply(*steps)
        self.assertEqual(("DISK_FULL", True), (caught.exception.code, caught.exception.retryable))
        self.assertRegex(
            caught.exception.summary, r"^Cannot .*: the disk or quota is full \(\d+ bytes free\), need room$"
        )
        return caught.exception

    def test_a_claim_is_refused_and_leaves_nothing(self) -> None:
        self.refused(self.claim())
        self.assertFalse(self.state().exists())

    def test_an_overlay_is_refused_and_leaves_none(self) -> None:
        self.apply(self.claim())
        model = self.folder / "model"
        model.mkdir()
        overlay = {"name": "aa", "checkpointPath": str(model), "files": {"config.json": "{}"}, "record": {}}
        self.refused({"kind": "overlay", **overlay})
        self.assertEqual([".lock"], os.listdir(paths.overlays_folder()))

    def test_a_start_is_refused_and_nothing_runs(self) -> None:
        self.apply(self.claim())
        self.refused({"kind": "start", "launch": self.launch({})})
        self.assertEqual(([], None), (self.members(), run_record.read(self.server_id)))

    def test_a_server_that_runs_is_not_stopped_for_a_start_that_has_no_room(self) -> None:
        started = self.start({"listen": 0})
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1}
        refused = self.refused(stop, {"kind": "start", "launch": self.launch({})})
        self.assertIn(f"Cannot keep records in {self.state()}: the disk", refused.summary)
        self.assertEqual([started["pid"]], [member.pid for member in self.members()])
        self.assertEqual([], [name for name in os.listdir(self.state()) if name.startswith(".")])

    def test_a_server_that_is_ready_but_cannot_be_recorded_so_goes_on(self) -> None:
        self.start({"listen": 0})
        self.refused(wait_step())
        self.assertEqual("ready", self.wait()["outcome"])

    def test_a_server_is_stopped_and_forgotten(self) -> None:
        self.apply(self.claim())
        self.start({"engine": {"shm": self.shm}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1}
        with self.full():
            self.assertEqual(2, len(self.apply(stop)[0]["stop"]["ended"]))
            self.assert_nothing_left()
            nothing = {"freedBytes": 0, "kept": []}
        self.assertEqual([{"kind": "forget", "forget": nothing}], self.apply({"kind": "forget"}))
        self.assertFalse(self.state().exists())

    def test_what_the_stop_saw_for_itself_is_removed_though_it_could_not_be_noted(self) -> None:
        self.start({"engine": {"shm": self.shm, "ignores_term": True}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])
        run_record.write(self.server_id, {**self.run_json(), "shm": []})
        with self.full():
            self.assertEqual([self.shm], self.stop()["removedShm"])

    def test_where_not_even_a_name_can_be_made_the_supervisor_is_told_by_a_signal(self) -> None:
        self.start({}, restart=(5, 600, 60))
        # A name that leads nowhere cannot be opened for writing, and no restart sees it.
        stop_intent.path(self.server_id).symlink_to("nowhere/at-all")
        with self.full():
            stop_intent.declare(self.server_id)
        self.until(self.supervisor_gone)
        self.assertEqual(([], "stopped"), (self.members(), self.run_json()["state"]))
