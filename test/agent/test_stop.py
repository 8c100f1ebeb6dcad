from __future__ import annotations

import os
import re
import signal
import unittest
from pathlib import Path

from agent import ending, paths, run_record, supervisor_end
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

    def test_what_is_made_until_the_last_moment_is_removed(self) -> None:
        def made() -> list[Path]:
            return list(Path("/dev/shm").glob(f"{self.shm}-*"))

        self.addCleanup(lambda: [path.unlink() for path in made()])
        for kills_supervisor in (False, True):
            self.start({"engine": {"shm": self.shm, "churns": True}})
            self.until(made)
            if kills_supervisor:
                kill(run_record.living(self.run_json(), "supervisor"))
            self.stop()
            self.assertEqual([], made())
            self.assert_nothing_left()

    def test_what_no_process_maps_is_removed_by_the_tracker_of_those_that_made_it(self) -> None:
        for kills_supervisor in (False, True):
            self.start({"tracked": True})
            generation = self.run_json()["generation"]
            [name] = self.until(lambda g=generation: re.findall(r"tracked /?(psm_\w+)", self.log(g)))
            self.assertTrue(os.path.exists(f"/dev/shm/{name}"))
            if kills_supervisor:
                kill(run_record.living(self.run_json(), "supervisor"))
            self.stop()
            self.assertFalse(os.path.exists(f"/dev/shm/{name}"))
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


if __name__ == "__main__":
    unittest.main()
