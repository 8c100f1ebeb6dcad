from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from agent import ending, paths, processes, run_record
from test.agent.acting import ActingCase, kill


class RecordTest(ActingCase):
    def test_a_start_is_on_record_before_it_is_reported(self) -> None:
        started = self.start({"log": "hello\n"})
        run = self.run_json()
        self.assertEqual((1, run["leader"]["pid"]), (started["generation"], started["pid"]))
        self.assertEqual("running", run["state"])
        self.assertEqual(
            [{"sid": started["pid"], "startTicks": run["leader"]["startTicks"], "generation": 1}],
            run["sessions"],
        )
        self.assertEqual(str(self.state() / "logs" / "1.log"), started["logPath"])
        self.until(lambda: self.log() == "hello\n")
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in self.state().rglob("*")}
        self.assertEqual(
            {
                "secrets.json": "0o600",
                "serve.yaml": "0o600",
                "1.log": "0o600",
                "tmp": "0o700",
                "logs": "0o700",
            },
            {name: modes[name] for name in ("secrets.json", "serve.yaml", "1.log", "tmp", "logs")},
        )

    def test_the_server_has_its_own_session_signals_and_environment(self) -> None:
        started = self.start({})
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{started['pid']}/status").read_text().splitlines()
        )
        self.until(lambda: "-IS" in Path(f"/proc/{started['pid']}/cmdline").read_text())
        environ = dict(
            entry.split("=", 1)
            for entry in Path(f"/proc/{started['pid']}/environ").read_text().split("\0")
            if entry
        )
        self.assertEqual(started["pid"], os.getsid(started["pid"]))
        self.assertEqual("0" * 16, status["SigBlk"])
        self.assertEqual(self.server_id, environ["PULUMI_VLLM_SERVER"])
        self.assertEqual(str(paths.temp_folder(self.server_id)), environ["TMPDIR"])
        self.assertEqual(("1", "sesame"), (environ["SPT_NOENV"], environ["VLLM_API_KEY"]))
        self.assertTrue(environ["PATH"].startswith(f"{self.executable.parent}:"))
        # Coming up, its interpreter opens a file for a moment.
        self.until(lambda: {"/dev/null", started["logPath"]} == _open_files(started["pid"]))

    def test_the_supervisor_holds_nothing_of_the_agent(self) -> None:
        self.start({})
        pid = self.run_json()["supervisor"]["pid"]
        # Looking at its server, it opens a file for a moment.
        self.until(lambda: {"/dev/null"} == _open_files(pid))
        self.assertEqual(("/", pid), (os.readlink(f"/proc/{pid}/cwd"), os.getsid(pid)))
        self.assertEqual(f"pvllm-{self.server_id}"[:15], Path(f"/proc/{pid}/comm").read_text().strip())

    def test_how_it_exits_is_recorded_and_without_restarts_it_is_given_up(self) -> None:
        self.start({"exit_after": 0, "exit_code": 3})
        run = self.until(lambda: self.run_json() if self.run_json()["state"] == "gave-up" else None)
        self.assertEqual([(1, 3, None)], [(e["generation"], e["code"], e["signal"]) for e in run["exits"]])
        self.assertEqual((None, []), (run["leader"], run["sessions"]))
        self.until(self.supervisor_gone)
        self.assert_nothing_left()

    def test_it_outlives_the_session_of_the_agent(self) -> None:
        started = self._start_in_a_session_that_dies()
        self.until(lambda: self.log() == "up\n")
        self.assertEqual(started, run_record.living(self.run_json(), "leader"))
        self.assertFalse(self.supervisor_gone())

    def _start_in_a_session_that_dies(self) -> tuple[int, int]:
        """The start runs in a session of its own, like one of sshd, whose every process is then killed."""
        script = (
            "import json,sys,time\nimport test.agent\nfrom agent import launch\n"
            "step=json.load(sys.stdin)\nlaunch.run(sys.argv[1], step)\nprint('started', flush=True)\ntime.sleep(60)\n"
        )
        root = Path(__file__).resolve().parents[2]
        child = subprocess.Popen(
            [sys.executable, "-c", script, self.server_id],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps({"kind": "start", "launch": self.launch({"late_log": [[0.5, "up\n"]]})}))
        child.stdin.close()
        self.assertEqual("started\n", child.stdout.readline())
        leader = run_record.living(self.run_json(), "leader")
        os.killpg(child.pid, signal.SIGHUP)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert leader is not None
        return leader


class RestartTest(ActingCase):
    def test_it_is_started_again_after_the_delay_up_to_the_cap_and_then_nothing_is_left(self) -> None:
        self._patch(ending, "ORPHAN_GRACE_SECONDS", 0.3)
        act = {
            "log": "up\n",
            "engine": {"shm": self.shm, "ignores_term": True},
            "exit_after": 1.5,
            "exit_code": 7,
        }
        self.start(act, restart=(1, 600, 0.5))
        run = self.until(lambda: self.run_json() if self.run_json()["state"] == "gave-up" else None)
        self.assertEqual([(1, 7), (2, 7)], [(e["generation"], e["code"]) for e in run["exits"]])
        self.assertEqual([self.shm], run["shmRemoved"])
        self.assertEqual(("up\n", "up\n"), (self.log(1)[:3], self.log(2)[:3]))
        self.until(self.supervisor_gone)
        self.assert_nothing_left()

    def test_starts_that_never_serve_are_given_up_however_slow_they_fail(self) -> None:
        """A window that each restart falls out of: only the count of starts in a row ends the loop."""
        self.start({"exit_after": 0.3, "exit_code": 1}, restart=(2, 0, 0))
        run = self.until(lambda: self.run_json() if self.run_json()["state"] == "gave-up" else None)
        self.assertEqual([1, 2, 3], [entry["generation"] for entry in run["exits"]])

    def test_a_start_that_served_begins_the_count_anew(self) -> None:
        self.start({"listen": 0, "exit_after": 2.5}, restart=(1, 0, 0))
        self.until(lambda: self.run_json()["generation"] == 3)

    def test_limits_changed_by_the_policy_step_count_from_the_next_death_on(self) -> None:
        self.start({"exit_after": 3600}, restart=(0, 600, 0))
        self.apply({"kind": "policy", "restart": {"max": 5, "withinSeconds": 600, "delaySeconds": 0}})
        kill(run_record.living(self.run_json(), "leader"))
        run = self.until(lambda: self.run_json() if self.run_json()["generation"] == 2 else None)
        self.assertEqual([(1, None, 9)], [(e["generation"], e["code"], e["signal"]) for e in run["exits"]])

    def test_folders_that_somebody_removed_are_made_again_for_an_automatic_restart(self) -> None:
        self.start({"log": "hello\n", "exit_after": 3600}, restart=(1, 600, 0))
        shutil.rmtree(self.state() / "logs")
        shutil.rmtree(paths.temp_folder(self.server_id))
        kill(run_record.living(self.run_json(), "leader"))
        self.until(lambda: (self.state() / "logs" / "2.log").exists() and self.log(2) == "hello\n")
        self.assertTrue(paths.temp_folder(self.server_id).is_dir())
        self.assertEqual([1], [entry["generation"] for entry in self.run_json()["exits"]])

    def test_records_that_cannot_be_read_do_not_end_the_supervision(self) -> None:
        """As on a home on the network that is away for a while."""
        self.start({"listen": 0}, restart=(1, 600, 0))
        (self.state() / "policy.json").unlink()
        for name in ("policy.json", "ready.json"):
            (self.state() / name).mkdir()
        kill(run_record.living(self.run_json(), "leader"))
        self.until(lambda: self.run_json()["generation"] == 2 and self.run_json()["state"] == "running")
        self.assertFalse(self.supervisor_gone())

    def test_a_stop_intent_forbids_the_restart(self) -> None:
        self.start({"exit_after": 0.3}, restart=(5, 600, 0))
        (self.state() / "stop-intent").write_text("{}")
        self.until(lambda: self.run_json()["state"] == "stopped")
        self.assertEqual(1, self.run_json()["generation"])


class OrphanTest(ActingCase):
    def test_what_outlives_a_killed_leader_is_asked_to_leave_and_cleans_up_itself(self) -> None:
        self.start({"engine": {"shm": self.shm}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])
        kill(run_record.living(self.run_json(), "leader"))
        self.until(self.supervisor_gone)
        self.assertEqual(
            ("gave-up", [], []), tuple(self.run_json()[name] for name in ("state", "shm", "shmRemoved"))
        )
        self.assert_nothing_left()

    def test_a_daemon_that_left_the_session_with_a_clean_environment_is_ended_too(self) -> None:
        told = self.folder / "daemon"
        daemon = f"env -i sh -c 'echo $$ > {told}; exec sleep 600'"
        self.executable.write_text(
            f'#!/bin/sh\nsetsid sh -c "{daemon} & exit" \nexec sleep 600\n'.replace("$$", "\\$\\$")
        )
        self.start({})
        pid = int(self.until(lambda: told.exists() and told.read_text().strip()))
        daemon_process = processes.read_process(pid)
        assert daemon_process is not None
        identity = (pid, daemon_process.start_ticks)
        self.addCleanup(kill, identity)
        self.assertNotIn(pid, [member.pid for member in self.members()])
        self.stop()
        self.assertFalse(processes.is_same(*identity))
        self.assert_nothing_left()

    def test_sigterm_to_the_supervisor_stops_the_server_orderly(self) -> None:
        self.start({"engine": {"shm": self.shm}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])
        os.kill(self.run_json()["supervisor"]["pid"], signal.SIGTERM)
        self.until(self.supervisor_gone)
        self.assertEqual("stopped", self.run_json()["state"])
        self.assert_nothing_left()


def _open_files(pid: int) -> set[str]:
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(os.readlink(entry))
    return found


if __name__ == "__main__":
    unittest.main()
