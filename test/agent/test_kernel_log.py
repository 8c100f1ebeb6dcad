"""kernel_log.py and kernel_watch.py: what the kernel said of a start, where it may be read."""

import os
import signal
import time
from datetime import datetime, timezone
from unittest import mock

from agent import kernel_log, kernel_watch, processes, run_record, wait
from test.agent.acting import ActingCase, wait_step

from .bed import HostCase

KILLED = (
    "Out of memory: Killed process %d (VLLM::EngineCor) total-vm:9kB, anon-rss:8kB, UID:1000 oom_score_adj:0"
)
CONSTRAINT = (
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=%s,task_memcg=%s,"
    "task=VLLM::EngineCor,pid=%d,uid=0"
)
XID = "NVRM: Xid (PCI:0000:%s:00): %d, pid=4711, name=python3, GPU has fallen off the bus."
SMI = """#!/bin/sh
case "$1" in
  --query-gpu=uuid,pci.bus_id) printf 'GPU-aaaa, 00000000:41:00.0\\nGPU-bbbb, 00000000:C1:00.0\\n' ;;
esac
"""


def at(seconds, text):
    return f"[{seconds:12.6f}] {text}"


class KernelLogTest(HostCase):
    def reader(self, name, lines, code=0, before=""):
        (self.home / name).write_text("".join(f"{line}\n" for line in lines))
        self.program(name, f'#!/bin/sh\n{before}cat "$HOME/{name}"\nexit {code}\n')

    def silent(self):
        """Nobody may read: as on a host with kernel.dmesg_restrict, for an account without groups."""
        self.reader("dmesg", [], 1)
        self.reader("journalctl", [])

    def test_only_what_came_since_the_start_counts_and_only_kills_and_gpus(self):
        with mock.patch.object(time, "clock_gettime", lambda _clock: time.monotonic()):
            self.reader(
                "dmesg",
                [
                    at(90, KILLED % 6),
                    at(100, KILLED % 7),
                    at(101, "usb 1-1: new device"),
                    KILLED % 8,
                    at(102, XID % ("41", 79)),
                ],
            )
            self.assertEqual(
                [at(100, KILLED % 7), at(102, XID % ("41", 79))], kernel_log.read(since_seconds=100)
            )

    def test_the_time_a_machine_slept_is_none_of_the_kernels_log(self):
        self.reader("dmesg", [at(100, KILLED % 7)])
        with mock.patch.object(time, "clock_gettime", lambda _clock: time.monotonic() + 5000):
            self.assertEqual([at(100, KILLED % 7)], kernel_log.read(since_seconds=5100))
            self.assertEqual([], kernel_log.read(since_seconds=5200))

    def test_the_journal_is_asked_where_the_ring_is_roots_alone(self):
        self.reader("dmesg", [], 1)
        self.reader("journalctl", [at(100, "gpu1 kernel: " + KILLED % 7)])
        self.assertEqual([at(100, "gpu1 kernel: " + KILLED % 7)], kernel_log.read(0))

    def test_where_nobody_may_read_nothing_is_told(self):
        self.silent()
        self.assertIsNone(kernel_log.read(0))

    def test_a_reader_that_hangs_holds_nothing_up(self):
        self.reader("dmesg", [], before="exec sleep 60\n")
        self.reader("journalctl", [])
        with mock.patch.object(kernel_log, "_SECONDS", 0.2):
            began = time.monotonic()
            self.assertIsNone(kernel_log.read(0))
        self.assertLess(time.monotonic() - began, 10)

    def about(self, lines, pids=frozenset(), unit=None, strangers=frozenset()):
        return kernel_log.about(list(lines), set(pids), unit, set(strangers))

    def test_a_kill_of_others_is_left_out(self):
        lines = [at(1, KILLED % 7), at(2, KILLED % 77), at(3, CONSTRAINT % ("/x", "/x", 9))]
        self.assertEqual(lines[:1], self.about(lines, {7}))

    def test_a_kill_in_the_unit_is_its_own_though_nobody_saw_the_process(self):
        unit = "vllm-chat.service"
        for group, is_told in (
            (f"/system.slice/{unit}", True),
            (f"/user.slice/user-7.slice/user@7.service/app.slice/{unit}/job", True),
            (f"/system.slice/{unit}-2", False),
        ):
            lines = [at(1, CONSTRAINT % ("/", group, 9)), at(2, KILLED % 9)]
            self.assertEqual(lines if is_told else [], self.about(lines, unit=unit), group)
            self.assertEqual([], self.about(lines))

    def test_a_gpu_that_dies_over_and_over_is_told_once_and_a_strangers_not_at_all(self):
        lines = [at(number, XID % ("41", 79)) for number in range(3)] + [at(4, XID % ("C1", 79))]
        self.assertEqual([lines[0], lines[3]], self.about(lines))
        self.assertEqual([lines[0]], self.about(lines, strangers={"0000:C1:00"}))

    def test_never_more_lines_than_a_message_holds(self):
        lines = [at(number, XID % ("41", number) + "x" * 900) for number in range(100)]
        told = self.about(lines)
        self.assertEqual((40, {300}), (len(told), {len(line) for line in told}))

    def watch(self, uuids=(), leader=5, **run):
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        at = datetime.fromtimestamp(booted, timezone.utc).isoformat().replace("+00:00", "Z")
        started = {"leader": {"pid": leader, "startTicks": 0}, "startedAt": at, **run}
        return kernel_watch.KernelWatch({"gpuUuids": list(uuids)}, started)

    def test_processes_are_known_by_what_the_log_of_the_start_calls_them_and_by_having_been_seen(self):
        lines = [at(1, KILLED % pid) for pid in (5, 9, 10, 11, 12, 13)]
        self.reader("dmesg", lines)
        watch = self.watch()
        watch.hear("(EngineCore pid=9) INFO x\n(VllmWorker rank=0 pid=10) y pid=13\n(Worker_TP0 pid=11) z\n")
        watch.look(lambda: [processes.Process(12, 1, 12, 1, "R", "cicc")])
        self.assertEqual({"kernel": lines[:5]}, watch.told())

    def test_a_fault_of_a_gpu_that_another_server_has_is_left_out(self):
        lines = [at(1, XID % ("C1", 79)), at(2, XID % ("41", 48))]
        self.reader("dmesg", lines)
        self.program("nvidia-smi", SMI)
        self.assertEqual({"kernel": lines[1:]}, self.watch(["GPU-aaaa"]).told())
        # Which GPUs it has is not known, or where they sit: better told than not.
        self.assertEqual({"kernel": lines}, self.watch([]).told())
        self.program("nvidia-smi", "#!/bin/sh\nexit 9\n")
        self.assertEqual({"kernel": lines}, self.watch(["GPU-aaaa"]).told())

    def test_that_nothing_was_said_is_told_only_where_it_is_certain(self):
        self.reader("dmesg", [at(1, "usb 1-1: new device")])
        with mock.patch.object(kernel_log, "has_our_numbers", lambda: True):
            self.assertEqual({"kernel": []}, self.watch().told())
            # It could be a compiler that lived too short to be seen.
            self.reader("dmesg", [at(1, KILLED % 77)])
            self.assertEqual({}, self.watch().told())
            self.silent()
            self.assertEqual({}, self.watch().told())
        self.reader("dmesg", [at(1, "usb 1-1: new device")])
        with mock.patch.object(kernel_log, "has_our_numbers", lambda: False):
            self.assertEqual({}, self.watch().told())

    def test_of_a_start_of_no_known_time_nothing_is_told(self):
        self.reader("dmesg", [at(1, KILLED % 5)])
        self.assertEqual({}, self.watch(startedAt=None).told())

    def test_a_unit_is_known_by_its_name(self):
        lines = [at(1, CONSTRAINT % ("/", "/system.slice/vllm-chat.service", 9)), at(2, KILLED % 9)]
        self.reader("dmesg", lines)
        self.assertEqual({"kernel": lines}, self.watch(unit={"name": "vllm-chat.service"}).told())


class WaitTest(ActingCase):
    """What the wait step's failing ends carry."""

    def kernel(self, text):
        path = self.executable.parent / "dmesg"
        path.write_text(f"#!/bin/sh\necho '{text}'\n")
        path.chmod(0o700)

    def line(self, pid):
        return at(time.monotonic() + 1, KILLED % pid)

    def test_each_of_them_tells_what_the_kernel_said(self):
        self.start({"log": "(EngineCore pid=1234567) INFO loading\nNotImplementedError: FP8\n"})
        leader = self.run_json()["leader"]["pid"]
        for pid in (leader, 1234567):
            line = self.line(pid)
            self.kernel(line)
            step = wait_step(fatalPatterns=["^NotImplementedError"])
            self.assertEqual(
                {"outcome": "fatal", "line": "NotImplementedError: FP8", "kernel": [line]},
                wait.run(self.server_id, step),
            )
        timeout = wait.run(self.server_id, wait_step(timeoutSeconds=0.2))
        self.assertEqual(("timeout", [line]), (timeout["outcome"], timeout["kernel"]))
        os.kill(leader, signal.SIGKILL)
        self.until(lambda: run_record.exit_of(self.run_json(), 1))
        exited = wait.run(self.server_id, wait_step())
        self.assertEqual({"outcome": "exited", "code": None, "signal": 9, "kernel": [line]}, exited)

    def test_a_kill_of_somebody_elses_process_is_none_of_it(self):
        self.start({"log": "ValueError: no\n", "exit_after": 0.1, "exit_code": 1})
        self.kernel(self.line(os.getpid()))
        self.assertEqual({"outcome": "exited", "code": 1, "signal": None}, self.wait())
