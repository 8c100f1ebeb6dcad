"""processes.py: what belongs to a server is told by session, start time, boot and marker; never by name."""

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

from agent import processes
from agent.processes import MARKER

from .bed import SLEEPER, HostCase, identity

ID = "chat-0a1b2c3d"

# Two processes of one session; the child says "up" once both are there.
PAIR = "import os, sys\nif os.fork() == 0: print('up')\nsys.stdin.read()"


class ProcessesTest(HostCase):
    def run_of(self, *children, **changed):
        sessions = [
            {"sid": c.pid, "startTicks": identity(c.pid)["startTicks"], "generation": 1} for c in children
        ]
        return {
            "bootId": processes.boot_id(),
            "supervisor": {"pid": 1, "startTicks": 0},
            "sessions": sessions,
            **changed,
        }

    def pids(self, run, server_id=ID):
        return [process.pid for process in processes.members_of(server_id, run)]

    def test_a_process_is_read_as_it_is(self):
        child = self.spawn(SLEEPER)
        found = processes.read_process(child.pid)
        self.assertEqual(
            (found.pid, found.ppid, found.session_id, found.uid, found.state in "RS"),
            (child.pid, os.getpid(), child.pid, os.getuid(), True),
        )
        self.assertTrue(found.command.endswith("print('up'); sys.stdin.read()"))
        self.assertTrue(processes.is_same(child.pid, found.start_ticks))
        self.assertFalse(processes.is_same(child.pid, found.start_ticks + 1))
        # Its state is another one between two looks.
        listed = {dataclasses.replace(one, state="") for one in processes.all_processes()}
        self.assertIn(dataclasses.replace(found, state=""), listed)

    def test_a_name_with_parentheses_and_spaces_is_no_trap(self):
        child = self.spawn("open('/proc/self/comm', 'w').write(') R 1 (x y'); " + SLEEPER)
        self.assertEqual(processes.read_process(child.pid).ppid, os.getpid())

    def test_keys_in_command_lines_are_hidden(self):
        child = self.spawn(SLEEPER + " # --api-key sk-12345 --hf-token=hf_678 end")
        command = processes.read_process(child.pid).command
        self.assertTrue(command.endswith("# --api-key *** --hf-token=*** end"), command)

    def test_what_would_act_on_a_terminal_is_not_in_a_command(self):
        child = self.spawn(SLEEPER + "\n# \x1b[2J end")
        command = processes.read_process(child.pid).command
        self.assertTrue(command.endswith("sys.stdin.read() #  [2J end"), repr(command))

    def test_a_container_that_is_started_again_is_another_boot(self):
        """Its small numbers are given out anew, within one boot of the kernel."""
        code = "import test.agent; from agent.processes import boot_id; print(boot_id())"
        argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
        root = Path(__file__).resolve().parents[2]
        inside = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
        if inside.returncode != 0:
            self.skipTest(f"this machine lets nobody make a PID namespace: {inside.stderr}")
        kernel = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        seen = {inside.stdout.strip(), processes.boot_id()}
        self.assertEqual((2, {kernel}), (len(seen), {one.partition("+")[0] for one in seen}))

    def test_a_zombie_is_not_alive(self):
        child = self.spawn(SLEEPER)
        ticks = identity(child.pid)["startTicks"]
        run = self.run_of(child)
        os.kill(child.pid, signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self.assertEqual(processes.read_process(child.pid).state, "Z")
        self.assertFalse(processes.is_same(child.pid, ticks))
        self.assertEqual(self.pids(run), [])

    def test_the_whole_recorded_session_belongs_without_any_marker(self):
        child = self.spawn(PAIR)
        members = processes.members_of(ID, self.run_of(child))
        self.assertEqual([member.session_id for member in members], [child.pid, child.pid])

    def test_orphans_of_a_dead_leader_still_belong(self):
        child = self.spawn(PAIR)
        run = self.run_of(child)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        members = processes.members_of(ID, run)
        self.assertEqual([member.session_id for member in members], [child.pid])

    def test_the_marker_is_enough_even_without_a_record(self):
        child = self.spawn(SLEEPER, **{MARKER: ID})
        self.assertEqual(processes.read_marker(child.pid), ID)
        self.assertEqual(self.pids(None), [child.pid])

    def test_another_servers_marker_beats_the_session(self):
        child = self.spawn(SLEEPER, **{MARKER: "other-ffffffff"})
        self.assertEqual(self.pids(self.run_of(child)), [])

    def test_a_number_that_was_used_again_is_a_stranger(self):
        child = self.spawn(PAIR)
        run = self.run_of(child)
        for ticks in (-1, 1):
            run["sessions"][0]["startTicks"] = identity(child.pid)["startTicks"] + ticks
            self.assertEqual(self.pids(run), [])

    def test_records_of_another_boot_name_nobody(self):
        child = self.spawn(SLEEPER)
        self.assertEqual(self.pids(self.run_of(child, bootId="0" * 36)), [])

    def test_neither_the_supervisor_nor_the_agent_is_a_member(self):
        child = self.spawn(SLEEPER, **{MARKER: ID})
        self.assertEqual(self.pids(self.run_of(child, supervisor=identity(child.pid))), [])
        os.environ[MARKER] = ID
        code = (
            "import sys; sys.path.insert(0, %r); from agent import processes\n"
            "print(processes.members_of(%r, None))"
        )
        told = subprocess.run(
            [
                "/usr/bin/env",
                "python3",
                "-c",
                code % (os.path.dirname(os.path.dirname(processes.__file__)), ID),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertNotIn("members_of", told.stdout)
