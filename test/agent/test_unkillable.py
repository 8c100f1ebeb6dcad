from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

from agent import (
    accounts,
    cgroup,
    ending,
    processes,
    records,
    run_record,
    signals,
    supervision,
    supervisor_end,
    unkillable,
)
from agent.failure import AgentFailure
from test.agent.acting import ApplyCase
from test.agent.freezer import frozen
from test.agent.strangers import StrangersCase


class UnkillableTest(StrangersCase):
    """What outlives SIGKILL is told, and the server is not done until it is gone."""

    def setUp(self) -> None:
        super().setUp()
        for module, name in (
            (ending, "ORPHAN_GRACE_SECONDS"),
            (ending, "KILL_SECONDS"),
            (supervisor_end, "_BY_ITSELF_SECONDS"),
            (supervisor_end, "_AFTER_TERM_SECONDS"),
            (supervisor_end, "_AFTER_KILL_SECONDS"),
        ):
            self._patch(module, name, 0.3)

    def start_with_engine(self) -> processes.Process:
        self.start({"engine": {"shm": self.shm}})
        self.until(lambda: self.run_json()["shm"] == [self.shm])
        leader = self.run_json()["leader"]["pid"]
        return next(member for member in self.members() if member.pid != leader)

    def stop_failure(self) -> AgentFailure:
        with self.assertRaises(AgentFailure) as caught:
            self.stop()
        return caught.exception

    def gpu_held_by(self, pid: int) -> None:
        program = self.folder / "bin" / "nvidia-smi"
        program.write_text(
            '#!/bin/sh\ncase "$1" in *compute-apps*) echo "%d, GPU-abc, 71200";;'
            ' *) echo "3, GPU-abc, RTX, 97887, 71204, 580.1, 12.0";; esac\n' % pid
        )
        program.chmod(0o700)
        self._set_environment("PATH", f"{program.parent}:{os.environ['PATH']}")

    def test_what_sits_in_the_kernel_is_named_and_nothing_of_it_is_taken_for_done(self) -> None:
        engine = self.start_with_engine()
        self.gpu_held_by(engine.pid)
        with frozen(engine.pid):
            for _attempt in ("the first", "again"):
                failure = self.stop_failure()
                self.assertEqual(("STOP_INCOMPLETE", True), (failure.code, failure.retryable))
                self.assertEqual(
                    f"Cannot stop {self.server_id}: 1 of its processes outlives SIGKILL (needs a reboot or driver reset), need none",
                    failure.summary,
                )
                self.assertRegex(
                    failure.evidence or "",
                    rf"^pid {engine.pid} of {accounts.name_of(os.getuid())}, state D, waits in the kernel \(\w+\), "
                    rf"holds GPU 3 GPU-abc \(71200 MiB\): \S+/python3\S* -IS \S+/vllm serve ",
                )
                self.assertIn("restart the host", failure.change or "")
            # Nor is it forgotten, nor started a second time, and its shared memory is in use.
            self.assertEqual("STOP_INCOMPLETE", self.refusal({"kind": "forget"}).code)
            self.assertEqual("CHANGED_MEANWHILE", self.refusal(self.start_step()).code)
            self.assertTrue(os.path.exists(f"/dev/shm/{self.shm}"))
        self.assertEqual([self.shm], self.stop()["removedShm"])
        self.assert_nothing_left()

    def test_what_is_left_in_a_units_control_group_counts_though_systemd_has_given_the_unit_up(self) -> None:
        """Without a mark of ours, and in a session of its own: nothing else tells that it is the server's."""
        stranger = self.stranger()
        (self.folder / "x.service").mkdir()
        (self.folder / "x.service" / "cgroup.procs").write_text(f"{stranger.pid}\n")
        self._patch(cgroup, "_ROOTS", (str(self.folder),))
        self.record(stranger.pid, stranger.start_ticks, supervisor=None, leader=None, sessions=[])
        records.write_json(self.state() / "run.json", {**self.run_json(), "cgroup": "/x.service"})
        self._patch(supervision, "release_all", lambda _id: self.record(1, 1, supervisor=None))
        kept = signals.send
        signals.send = lambda *_: False
        try:
            for _attempt in ("the first", "again"):
                self.assertIn(f"pid {stranger.pid} of ", self.stop_failure().evidence or "")
        finally:
            signals.send = kept
        self.stop()
        self.assertFalse(processes.is_same(stranger.pid, stranger.start_ticks))

    def test_without_a_freezer_too_a_process_that_stays_is_no_stop(self) -> None:
        """As if signals reached nobody."""
        self.start_with_engine()
        kept = signals.send
        signals.send = lambda *_: False
        try:
            failure = self.stop_failure()
        finally:
            signals.send = kept
        self.assertIn("2 of its processes outlive SIGKILL", failure.summary)
        self.assertEqual(2, len((failure.evidence or "").split("; ")))
        self.stop()
        self.assert_nothing_left()

    def test_a_process_that_runs_in_the_kernel_for_ever_is_told_apart(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        spinning = processes.read_process(child.pid)
        assert spinning is not None
        told = unkillable.failure("chat-1", [spinning]).evidence or ""
        self.assertIn(
            f"pid {child.pid} of {accounts.name_of(os.getuid())}, state R, runs in the kernel", told
        )

    def test_a_driver_that_cannot_be_asked_is_told_too(self) -> None:
        me = processes.read_process(os.getpid())
        assert me is not None
        program = self.folder / "bin" / "nvidia-smi"
        program.write_text("#!/bin/sh\necho Unable to talk to the driver\nexit 9\n")
        program.chmod(0o700)
        self._set_environment("PATH", f"{program.parent}:{os.environ['PATH']}")
        told = unkillable.failure("chat-1", [me]).evidence or ""
        self.assertTrue(told.endswith("; GPUs cannot be asked: Unable to talk to the driver"), told)

    @unittest.skipUnless(os.getuid() == 0, "needs a second user")
    def test_what_belongs_to_another_user_needs_that_user_and_no_reboot(self) -> None:
        init = processes.read_process(1)
        assert init is not None
        told = os.fork()
        if told == 0:
            os.setuid(65534)
            failure = unkillable.failure("chat-1", [init])
            is_right = "another user's" in failure.summary and "root" in (failure.change or "")
            os._exit(0 if is_right else 1)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(told, 0)[1]))


# Its first thread ends; the second holds the process.
HEADLESS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("up", flush=True)
ctypes.CDLL(None).syscall(%d, 0)
"""
SYS_EXIT = {"x86_64": 60, "aarch64": 93}


class ZombieTest(ApplyCase):
    def test_a_zombie_that_nobody_reaps_counts_as_gone(self) -> None:
        """Its parent belongs to the server no more: it is stopped, and keeps its dead child."""
        self.executable.write_text(
            f"#!{os.path.realpath(sys.executable)} -IS\nimport os, time\n"
            "if os.fork() == 0:\n    os._exit(0)\ntime.sleep(600)\n"
        )
        started = self.start({})
        zombie = self.until(lambda: _child_in_state(started["pid"], "Z"))
        self.assertNotIn(zombie, [member.pid for member in self.members()])
        self.assertEqual([started["pid"]], [one["pid"] for one in self.stop()["ended"]])

    @unittest.skipUnless(os.uname().machine in SYS_EXIT, "the number of exit is not known here")
    def test_what_looks_like_a_zombie_but_has_a_living_thread_is_not_gone(self) -> None:
        code = HEADLESS % SYS_EXIT[os.uname().machine]
        self.executable.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{code}")
        pid = self.start({})["pid"]
        self.until(lambda: (processes.read_process(pid) or self.fail("it ended")).state == "Z")
        leader = run_record.living(self.run_json(), "leader")
        assert leader is not None
        self.assertEqual([pid], [member.pid for member in self.members()])
        self.assertRegex(
            unkillable.failure(self.server_id, self.members()).evidence or "", rf"^pid {pid} of \w+, state S"
        )
        self.assertEqual([pid], [one["pid"] for one in self.stop()["ended"]])
        self.assertFalse(processes.is_same(*leader))
        self.assertFalse(Path(f"/proc/{pid}").exists())


def _child_in_state(parent: int, state: str) -> int:
    return next((one.pid for one in processes.all_processes() if (one.ppid, one.state) == (parent, state)), 0)


if __name__ == "__main__":
    unittest.main()
