from __future__ import annotations

import errno
import os
import signal
import unittest
from pathlib import Path
from unittest import mock

from agent import paths, processes, records, run_record, signals
from test.agent.acting import kill
from test.agent.strangers import StrangersCase

NOBODY = 65534


class ForgedRecordTest(StrangersCase):
    """Whatever a record says, the numbers of a stranger hurt nobody: neither stop nor the next start touches it."""

    def stop_and_start(self, stranger: processes.Process) -> None:
        self.assertEqual([], self.stop()["ended"])
        self.assert_lives(stranger)
        self.assertNotEqual(stranger.pid, self.start({})["pid"])
        self.assert_lives(stranger)
        self.stop()
        self.assert_lives(stranger)

    def test_a_pid_that_was_given_to_another_process(self) -> None:
        stranger = self.stranger()
        for ticks in (stranger.start_ticks - 1, stranger.start_ticks + 1):
            self.record(stranger.pid, ticks)
            self.stop_and_start(stranger)

    def test_a_record_of_another_boot(self) -> None:
        stranger = self.stranger()
        Path(f"/dev/shm/{self.shm}").touch(0o600)
        self.record(stranger.pid, stranger.start_ticks, bootId="another", supervisor=None, shm=[self.shm])
        temp = paths.temp_folder(self.server_id)
        temp.mkdir(parents=True)
        (temp / "left").write_text("over")
        result = self.stop()
        self.assertEqual(([], []), (result["ended"], result["removedShm"]))
        self.assertTrue(os.path.exists(f"/dev/shm/{self.shm}"))
        self.assertEqual([], os.listdir(temp))
        self.assertEqual("stopped", self.run_json()["state"])
        self.assertTrue(self.supervisor_gone())
        for supervisor in (None, {"pid": stranger.pid, "startTicks": stranger.start_ticks}):
            self.record(stranger.pid, stranger.start_ticks, bootId="another", supervisor=supervisor)
            self.stop_and_start(stranger)

    def test_a_supervisor_of_another_boot_whose_numbers_one_of_this_boot_has(self) -> None:
        """Machines start alike: the same number at the same tick is no rarity there."""
        stranger = self.stranger("open('/proc/self/comm', 'w').write('pvllm-other-0a1')")
        self.record(stranger.pid, stranger.start_ticks, bootId="another", leader=None, sessions=[])
        self.stop_and_start(stranger)

    def test_a_leader_of_a_session_that_is_none_of_ours(self) -> None:
        """Its numbers are right to the tick, and it is of this user."""
        stranger = self.stranger()
        for sessions in ([], [{"sid": 999_999, "startTicks": stranger.start_ticks, "generation": 1}]):
            self.record(stranger.pid, stranger.start_ticks, supervisor=None, sessions=sessions)
            # As one that has served it would be asked to drain.
            records.write_json(self.state() / "ready.json", {"generation": 1})
            self.stop_and_start(stranger)

    def test_a_supervisor_that_is_none(self) -> None:
        """Nothing but its numbers and its name tells a supervisor: numbers alone are not enough."""
        stranger = self.stranger()
        self.record(stranger.pid, stranger.start_ticks, leader=None, sessions=[])
        self.stop_and_start(stranger)

    def test_a_session_of_another_server(self) -> None:
        stranger = self.stranger()
        with mock.patch.object(processes, "read_marker", lambda _pid: "other-0a1b2c3d"):
            self.record(stranger.pid, stranger.start_ticks, supervisor=None)
            self.assertEqual([], self.stop()["ended"])
        self.assert_lives(stranger)

    @unittest.skipUnless(os.getuid() == 0, "needs a second user")
    def test_a_session_of_another_user(self) -> None:
        stranger = self.stranger(user=NOBODY)
        self.record(stranger.pid, stranger.start_ticks, supervisor=None)
        self.stop_and_start(stranger)

    def test_the_number_of_a_dead_supervisor_can_be_one_of_ours_by_now(self) -> None:
        pid = self.start({})["pid"]
        kill(run_record.living(self.run_json(), "supervisor"))
        records.write_json(
            self.state() / "run.json", {**self.run_json(), "supervisor": {"pid": pid, "startTicks": 1}}
        )
        self.assertEqual([pid], [one["pid"] for one in self.stop()["ended"]])

    def test_without_a_record_the_marker_finds_what_is_ours(self) -> None:
        self.start({"engine": {"shm": self.shm}})
        self.until(lambda: len(self.members()) == 2)
        kill(run_record.living(self.run_json(), "supervisor"))
        (self.state() / "run.json").unlink()
        self.assertEqual(2, len(self.stop()["ended"]))
        self.assertEqual([], self.members())


class SignalTest(StrangersCase):
    def test_only_the_process_that_was_looked_at_gets_a_signal(self) -> None:
        stranger = self.stranger()
        for pidfd_open in (getattr(os, "pidfd_open", None), _not_here):
            with mock.patch.object(os, "pidfd_open", pidfd_open, create=True):
                self.assertFalse(signals.send(stranger.pid, stranger.start_ticks - 1, signal.SIGKILL))
                self.assertFalse(signals.send(stranger.pid, stranger.start_ticks + 1, signal.SIGKILL))
                self.assertTrue(signals.send(stranger.pid, stranger.start_ticks, signal.SIGCONT))
        self.assert_lives(stranger)


def _not_here(_pid: int) -> int:
    """As kernels before 5.3 say it."""
    raise OSError(errno.ENOSYS, "Function not implemented")


if __name__ == "__main__":
    unittest.main()
