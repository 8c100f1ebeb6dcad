"""process_end.py: the end of a process is heard of at once."""

import os
import subprocess
import threading
import unittest

from agent import process_end

# Longer than any test may take.
FOR_EVER = 3600.0


class ProcessEndTest(unittest.TestCase):
    def setUp(self) -> None:
        self.child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.addCleanup(self.child.wait)
        assert self.child.stdin is not None
        self.addCleanup(self.child.stdin.close)

    def waiting(self, pid: int) -> threading.Thread:
        waiter = threading.Thread(target=process_end.wait, args=(pid, FOR_EVER), daemon=True)
        waiter.start()
        return waiter

    def test_a_wait_ends_with_the_process_and_not_before(self) -> None:
        waiter = self.waiting(self.child.pid)
        process_end.wait(self.child.pid, 0.05)
        self.assertTrue(waiter.is_alive())
        assert self.child.stdin is not None
        self.child.stdin.close()
        waiter.join(60)
        self.assertFalse(waiter.is_alive())
        # It has ended and nobody has asked how: a zombie.
        self.assertEqual(self.child.pid, os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT).si_pid)

    def test_nobody_waits_for_a_process_that_is_not_there(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()
        waiter = self.waiting(self.child.pid)
        waiter.join(60)
        self.assertFalse(waiter.is_alive())

    def test_an_older_kernel_is_asked_again_later(self) -> None:
        opened = os.pidfd_open
        self.addCleanup(setattr, os, "pidfd_open", opened)

        def refuse(_pid: int) -> int:
            raise OSError(38, "Function not implemented")

        os.pidfd_open = refuse
        process_end.wait(self.child.pid, 0.05)
        self.assertIsNone(self.child.poll())
