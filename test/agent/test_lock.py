"""lock.py: one holder at a time, named to everybody else, and gone with its process."""

import fcntl
import json
import os
from unittest import mock

from agent import events, lock, records
from agent.failure import AgentFailure

from . import AGENT_FOLDER
from .bed import HostCase

HOLD = """
import sys; sys.path.insert(0, %r)
from agent import lock
with lock.held(%r, "ann@laptop (shop/prod)", 0):
    print("up"); sys.stdin.read()
"""


class LockTest(HostCase):
    def setUp(self):
        super().setUp()
        self.place = self.home / "server" / "lock"
        self.told = []
        kept = events.emit
        events.emit = self.told.append
        self.addCleanup(setattr, events, "emit", kept)

    def holder(self):
        return self.spawn(HOLD % (str(AGENT_FOLDER.parent), str(self.place)))

    def take(self, wait_seconds=0.0):
        with lock.held(self.place, "bob@desk", wait_seconds):
            return records.read_json(self.place.with_name("lock.json"))

    def test_the_holder_stands_beside_the_lock_while_it_is_held(self):
        record = self.take()
        self.assertEqual((record["client"], record["pid"]), ("bob@desk", os.getpid()))
        self.assertEqual(os.listdir(self.place.parent), ["lock"])

    def test_a_second_one_is_told_who_holds_it_and_since_when(self):
        self.holder()
        with self.assertRaises(AgentFailure) as caught:
            self.take(0.3)
        self.assertEqual((caught.exception.code, caught.exception.retryable), ("HOST_LOCKED", True))
        self.assertRegex(
            caught.exception.summary,
            r"^Cannot lock .*/lock: held by ann@laptop \(shop/prod\) since \d\d:\d\d:\d\dZ, waited 0 s$",
        )
        self.assertEqual([event["event"] for event in self.told], ["waiting"])
        self.assertRegex(self.told[0]["reason"], r"^lock held by ann@laptop \(shop/prod\) since ")

    def test_a_killed_holder_holds_nothing(self):
        holder = self.holder()
        holder.kill()
        holder.wait()
        self.assertEqual(self.take()["client"], "bob@desk")

    def test_what_a_killed_holder_wrote_is_taken_away_and_what_a_living_one_wrote_is_not(self):
        holder = self.holder()
        lock.forget_dead_holder(self.place)
        self.assertEqual(sorted(os.listdir(self.place.parent)), ["lock", "lock.json"])
        holder.kill()
        holder.wait()
        lock.forget_dead_holder(self.place)
        self.assertEqual(os.listdir(self.place.parent), ["lock"])
        lock.forget_dead_holder(self.home / "never" / "lock")
        self.assertFalse((self.home / "never").exists())

    def test_whoever_waits_gets_it_as_soon_as_it_is_free(self):
        holder = self.holder()
        holder.stdin.close()
        self.assertEqual(self.take(20)["client"], "bob@desk")
        holder.wait()

    def test_a_record_of_a_dead_process_is_not_believed(self):
        self.place.parent.mkdir()
        record = self.place.with_name("lock.json")
        record.write_text(json.dumps({"client": "eve", "since": "x", "pid": os.getpid(), "startTicks": 1}))
        self.assertEqual(lock.describe_holder(record), "held by a process that did not say who it is")

    def test_a_lock_on_a_file_that_its_last_holder_removed_excludes_nobody_and_is_taken_again(self):
        really, removed = fcntl.flock, []

        def flock(descriptor, how):
            really(descriptor, how)
            if not removed:
                removed.append(self.place.unlink())

        with mock.patch.object(fcntl, "flock", flock), lock.held(self.place, "bob@desk", 5):
            self.assertEqual(removed, [None])
            with self.assertRaises(AgentFailure):
                self.take()

    def test_the_block_may_remove_the_folder(self):
        with lock.held(self.place, "bob@desk", 0):
            for name in os.listdir(self.place.parent):
                os.unlink(self.place.parent / name)
            self.place.parent.rmdir()
        self.assertFalse(self.place.parent.exists())
