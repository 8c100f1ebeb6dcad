from __future__ import annotations

import os
import secrets
import signal
import socket
import time
import unittest
from contextlib import AbstractContextManager
from typing import Callable

from agent import accounts, host_turn, processes, run_record
from agent.failure import AgentFailure
from test.agent.acting import ApplyCase, wait_step

NOBODY = 65534
CLIENT = "bob@desk (shop/dev)"


class HostTurnTest(ApplyCase):
    """Of two accounts on one host, one starts at a time. Their state folders are closed to each other."""

    def aside(self, body: Callable[[], None], user: int = NOBODY) -> int:
        """Runs `body` in a process of that user with a home of its own, until the test ends. Returns its pid once the
        body is through; the process then goes on living with all that the body opened."""
        home = self.folder / f"home-{secrets.token_hex(4)}"
        home.mkdir()
        os.chown(home, user, -1)
        self.folder.chmod(0o711)
        hear, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setuid(user)
                os.environ["HOME"] = str(home)
                body()
                os.write(tell, b"up")
                time.sleep(600)
            finally:
                os._exit(1)
        os.close(tell)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        with os.fdopen(hear, "rb") as pipe:
            self.assertEqual(b"up", pipe.read(2))
        return pid

    def turn_taken(self, user: int = NOBODY) -> int:
        """By another account's start, as its agent takes it."""
        return self.aside(lambda: _keep(host_turn.held(CLIENT, 0)), user)

    def refused(self) -> AgentFailure:
        return self.refusal(self.start_step())

    def test_the_other_is_named_with_client_user_and_since_when_and_nothing_is_started(self) -> None:
        self.turn_taken(os.getuid())
        refused = self.refused()
        self.assertEqual(("HOST_LOCKED", True), (refused.code, refused.retryable))
        self.assertRegex(
            refused.summary,
            r"^Cannot start on this host now: another start has its turn, held by bob@desk \(shop/dev\), "
            rf"user {accounts.name_of(os.getuid())}, since \d\d:\d\d:\d\dZ, waited 0 s$",
        )
        self.assertEqual(([], {}), (self.members(), self.run_json()))

    @unittest.skipUnless(os.getuid() == 0, "needs a second user")
    def test_another_user_holds_it_and_cannot_lie_about_who_that_is(self) -> None:
        self.turn_taken()
        self.assertIn(f"held by {CLIENT}, user {accounts.name_of(NOBODY)}, since ", self.refused().summary)

    @unittest.skipUnless(os.getuid() == 0, "needs a second user")
    def test_ours_is_respected_by_another_user(self) -> None:
        def try_it() -> None:
            try:
                with host_turn.held("eve", 0):
                    os._exit(1)
            except AgentFailure as failure:
                assert "held by me, user root" in failure.summary, failure.summary

        with host_turn.held("me", 0):
            self.aside(try_it)

    def test_a_server_that_runs_serves_on_until_the_turn_has_come(self) -> None:
        pid = self.start({})["pid"]
        other = self.turn_taken(os.getuid())
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 0}
        self.assertEqual("HOST_LOCKED", self.refusal(stop, self.start_step()).code)
        self.assertEqual(pid, (run_record.living(self.run_json(), "leader") or (0, 0))[0])
        # A stop alone waits for nobody.
        self.assertEqual([pid], [one["pid"] for one in self.stop()["ended"]])
        os.kill(other, signal.SIGKILL)
        self.apply(self.start_step(), lockWaitSeconds=5)

    def test_a_dead_holders_turn_is_free_at_once(self) -> None:
        other = self.turn_taken(os.getuid())
        os.kill(other, signal.SIGKILL)
        began = time.monotonic()
        self.apply(self.start_step(), lockWaitSeconds=20)
        self.assertLess(time.monotonic() - began, 5)

    def test_it_is_given_back_when_the_wait_has_ended_and_when_a_step_fails(self) -> None:
        self.apply({"kind": "start", "launch": self.launch({"listen": 0})}, wait_step())
        self.refusal(self.start_step())
        with host_turn.held("me", 0):
            pass

    def test_the_server_itself_does_not_keep_it(self) -> None:
        self.start({})
        with host_turn.held("me", 0):
            pass

    def test_waiting_is_told_and_bounded(self) -> None:
        self.turn_taken(os.getuid())
        began = time.monotonic()
        refused = self.refusal(self.start_step(), lockWaitSeconds=1)
        self.assertTrue(1 <= time.monotonic() - began < 4)
        self.assertIn("waited 1 s", refused.summary)
        told = [event["reason"] for event in self.events() if event["event"] == "waiting"]
        self.assertEqual(1, len(told))
        self.assertTrue(told[0].startswith(f"turn of this host, held by {CLIENT}, user "), told)

    def test_a_squatter_blocks_no_longer_than_the_bound_and_is_named(self) -> None:
        for listens, words in (
            (
                True,
                f"held by pid {{}} of user {accounts.name_of(os.getuid())}, which does not say what it is",
            ),
            (False, "held by a process that does not answer"),
        ):
            squatter = self.aside(lambda: _squat(listens), os.getuid())  # noqa: B023
            began = time.monotonic()
            self.assertIn(words.format(squatter), self.refused().summary)
            self.assertLess(time.monotonic() - began, 5)
            os.kill(squatter, signal.SIGKILL)
            self.until(lambda: not processes.is_same(squatter, 0) and self.is_free())  # noqa: B023

    def is_free(self) -> bool:
        try:
            with host_turn.held("me", 0):
                return True
        except AgentFailure:
            return False

    def test_what_the_holder_says_cannot_act_on_a_terminal(self) -> None:
        self.aside(lambda: _keep(host_turn.held("\x1b[2J" + "x" * 500, 0)), os.getuid())
        summary = self.refused().summary
        self.assertIn("held by  [2J" + "x" * 90, summary)
        self.assertNotIn("\x1b", summary)
        self.assertLess(len(summary), 300)

    def test_hosts_that_share_nothing_have_a_turn_each(self) -> None:
        self.turn_taken(os.getuid())
        self._set_environment(host_turn.SCOPE_VARIABLE, "another")
        self.start({})


# Open for as long as the process lives.
_KEPT: list[object] = []


def _keep(turn: AbstractContextManager[None]) -> None:
    turn.__enter__()
    _KEPT.append(turn)


def _squat(listens: bool) -> None:
    mine = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mine.bind(host_turn.name())
    if listens:
        mine.listen(1)
    _KEPT.append(mine)


if __name__ == "__main__":
    unittest.main()
