from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from agent import ending, paths, processes, records, run_record, shm, supervisor_end
from test.agent.acting import ActingCase, kill


class StopTest(ActingCase):
    def start_with_engine(self, **engine: bool) -> int:
        """Pid of the engine, once its shared memory is on record."""
        self.start({"engine": {"shm": self.shm, **engine}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])
        leader = self.run_json()["leader"]["pid"]
        return next(member.pid for member in self.members() if member.pid != leader)

    def test_a_server_that_still_starts_is_killed_whole_at_once(self) -> None:
        engine = self.start_with_engine()
        leader = self.run_json()["leader"]["pid"]
        (paths.temp_folder(self.server_id) / "left").write_text("over")
        result = self.stop(drainSeconds=30, killAfterSeconds=60)
        self.assertEqual([leader, engine], [one["pid"] for one in result["ended"]])
        self.assertEqual(
            (0, [self.shm], {}), (result["orphans"], result["removedShm"], result["gpuMemoryMib"])
        )
        self.assertLess(result["seconds"], 5)
        self.assertEqual([(None, 9)], [(e["code"], e["signal"]) for e in self.run_json()["exits"]])
        self.assertEqual("stopped", self.run_json()["state"])
        self.assert_nothing_left()

    def test_a_ready_server_gets_sigterm_and_may_drain(self) -> None:
        self.start({"listen": 0})
        self.assertEqual("ready", self.wait()["outcome"])
        self.stop()
        self.assertEqual([(0, None)], [(e["code"], e["signal"]) for e in self.run_json()["exits"]])
        self.assert_nothing_left()

    def test_a_server_that_listens_after_an_unwatched_restart_may_drain_too(self) -> None:
        self.start({"listen": 0}, restart=(1, 600, 0))
        kill(run_record.living(self.run_json(), "leader"))
        self.until(lambda: self.run_json()["generation"] == 2 and self.is_listening())
        self.stop()
        self.assertEqual((0, None), tuple(self.run_json()["exits"][-1][name] for name in ("code", "signal")))

    def is_listening(self) -> bool:
        return f":{self.port:04X} 00000000:0000 0A" in Path("/proc/net/tcp").read_text()

    def test_a_ready_server_that_does_not_leave_is_killed_after_the_deadline(self) -> None:
        self.start({"listen": 0, "ignores_term": True})
        self.wait()
        result = self.stop(drainSeconds=60, killAfterSeconds=1)
        self.assertTrue(1 <= result["seconds"] < 5, result)
        self.assertEqual(9, self.run_json()["exits"][-1]["signal"])
        self.assert_nothing_left()

    def test_orphans_of_a_killed_supervisor_are_ended(self) -> None:
        engine = self.start_with_engine()
        leader = run_record.living(self.run_json(), "leader")
        kill(run_record.living(self.run_json(), "supervisor"))
        kill(leader)
        self.until(lambda: [member.pid for member in self.members()] == [engine])
        result = self.stop()
        self.assertEqual(([engine], 1), ([one["pid"] for one in result["ended"]], result["orphans"]))
        self.assertEqual(
            ("stopped", [], []), tuple(self.run_json()[name] for name in ("state", "sessions", "shm"))
        )
        self.assert_nothing_left()

    def test_an_orphan_that_ignores_sigterm_is_killed_and_its_shared_memory_removed(self) -> None:
        self._patch(ending, "ORPHAN_GRACE_SECONDS", 0.3)
        self.start_with_engine(ignores_term=True)
        kill(run_record.living(self.run_json(), "supervisor"))
        kill(run_record.living(self.run_json(), "leader"))
        self.assertEqual([self.shm], self.stop()["removedShm"])
        self.assert_nothing_left()

    def test_a_stopped_supervisor_does_not_hold_up_the_stop(self) -> None:
        self.start({})
        supervisor = run_record.living(self.run_json(), "supervisor")
        assert supervisor is not None
        os.kill(supervisor[0], signal.SIGSTOP)
        self._patch(supervisor_end, "_BY_ITSELF_SECONDS", 0.3)
        self._patch(supervisor_end, "_AFTER_TERM_SECONDS", 0.3)
        self.stop()
        self.assertEqual("stopped", self.run_json()["state"])
        self.assert_nothing_left()

    def test_a_server_waiting_for_its_restart_is_stopped(self) -> None:
        self.start({"exit_after": 0}, restart=(5, 600, 60))
        self.until(lambda: self.run_json()["state"] == "restarting" and self.run_json()["nextStartAt"])
        result = self.stop()
        self.assertEqual(([], "stopped"), (result["ended"], self.run_json()["state"]))
        self.assert_nothing_left()

    def test_shared_memory_made_since_the_last_look_of_the_supervisor_is_removed_too(self) -> None:
        self.start({"engine": {"shm": self.shm}})
        supervisor = run_record.living(self.run_json(), "supervisor")
        assert supervisor is not None
        os.kill(supervisor[0], signal.SIGSTOP)
        self.until(lambda: "is up" in self.log())
        self._patch(supervisor_end, "_BY_ITSELF_SECONDS", 0.1)
        self._patch(supervisor_end, "_AFTER_TERM_SECONDS", 0.1)
        self.assertEqual([self.shm], self.stop()["removedShm"])
        self.assert_nothing_left()

    def test_stopping_twice_and_stopping_nothing_is_fine(self) -> None:
        self.assertEqual([], self.stop()["ended"])
        self.start({})
        self.stop()
        self.assertEqual(([], 0, []), tuple(self.stop()[name] for name in ("ended", "orphans", "removedShm")))

    def test_the_next_start_counts_on(self) -> None:
        self.start({})
        self.stop()
        self.assertEqual(2, self.start({})["generation"])
        self.assertFalse((self.state() / "stop-intent").exists())


class StrangerTest(ActingCase):
    def stranger(self, code: str = "") -> subprocess.Popen[bytes]:
        """A process of nobody's: own session, no marker."""
        child = subprocess.Popen(
            [sys.executable, "-c", f"{code}\nprint('up', flush=True)\nimport time\ntime.sleep(60)"],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stdout is not None
        child.stdout.readline()
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def record(self, pid: int, ticks: int, **changes: object) -> None:
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

    def test_a_pid_that_was_given_to_another_process_is_not_signalled(self) -> None:
        stranger = self.stranger()
        found = processes.read_process(stranger.pid)
        assert found is not None
        self.record(stranger.pid, found.start_ticks - 1)
        self.assertEqual([], self.stop()["ended"])
        self.assertIsNone(stranger.poll())

    def test_a_record_of_another_boot_ends_nobody_and_removes_no_shared_memory(self) -> None:
        stranger = self.stranger()
        found = processes.read_process(stranger.pid)
        assert found is not None
        Path(f"/dev/shm/{self.shm}").touch(0o600)
        self.record(stranger.pid, found.start_ticks, bootId="another", shm=[self.shm])
        temp = paths.temp_folder(self.server_id)
        temp.mkdir(parents=True)
        (temp / "left").write_text("over")
        result = self.stop()
        self.assertEqual(([], []), (result["ended"], result["removedShm"]))
        self.assertIsNone(stranger.poll())
        self.assertTrue(os.path.exists(f"/dev/shm/{self.shm}"))
        self.assertEqual([], os.listdir(temp))
        self.assertEqual("stopped", self.run_json()["state"])
        self.assertTrue(self.supervisor_gone())

    def test_without_a_record_the_marker_finds_what_is_ours(self) -> None:
        self.start({"engine": {"shm": self.shm}})
        self.until(lambda: len(self.members()) == 2)
        kill(run_record.living(self.run_json(), "supervisor"))
        (self.state() / "run.json").unlink()
        self.assertEqual(2, len(self.stop()["ended"]))
        self.assertEqual([], self.members())

    def test_shared_memory_that_another_process_has_open_stays(self) -> None:
        path = Path(f"/dev/shm/{self.shm}")
        path.write_bytes(b"x" * 4096)
        self.stranger(f"kept = open({str(path)!r})")
        self.record(999999, 1, shm=[self.shm])
        self.assertEqual([], self.stop()["removedShm"])
        self.assertTrue(path.exists())

    def test_what_lay_there_before_is_nobodys_whatever_the_clock_and_its_mode_say(self) -> None:
        path = Path(f"/dev/shm/{self.shm}")
        path.write_bytes(b"x" * 4096)
        before = shm.present()
        path.chmod(0o640)
        with path.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            self.assertEqual(set(), shm.names_new_to([os.getpid()], before))
            self.assertEqual({self.shm}, shm.names_new_to([os.getpid()], frozenset()))
            # The same name for another file is another thing.
            self.assertEqual({self.shm}, shm.names_new_to([os.getpid()], frozenset({(self.shm, 1)})))

    def test_names_that_look_like_line_ends_do_not_disturb_the_search(self) -> None:
        folder = self.folder / "odd\x0b" / "dev" / "shm"
        folder.mkdir(parents=True)
        odd = folder / "psm_odd"
        odd.write_bytes(b"x" * 4096)
        with odd.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            self.assertEqual(set(), shm.names_new_to([os.getpid()], frozenset()))
            self.assertEqual([], shm.remove_unused([]))

    def test_a_file_that_was_there_before_the_server_is_never_taken_for_its_own(self) -> None:
        path = Path(f"/dev/shm/{self.shm}")
        path.write_bytes(b"x" * 4096)
        with path.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            self.assertEqual({self.shm}, shm.names_made_by([os.getpid()], path.stat().st_ctime))
            self.assertEqual(set(), shm.names_made_by([os.getpid()], path.stat().st_ctime + 60))


if __name__ == "__main__":
    unittest.main()
