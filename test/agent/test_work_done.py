"""What the kernel counts of a process, and what of it is progress."""

import mmap
import os
import threading
import unittest

from agent import vitality, work_done
from agent.work_done import Done, Io

from .bed import HostCase

READER = """
import os, sys
print("up")
sys.stdin.readline()
with open(sys.argv[1], "rb") as file:
    while file.read(1 << 16): pass
with open(sys.argv[1] + ".copy", "wb") as file:
    file.write(b"x" * (1 << 20))
print("done")
sys.stdin.read()
"""
SIGNALS = """
import os, sys
print("up")
sys.stdin.readline()
ends = os.pipe()
for _ in range(50_000):
    os.write(ends[1], b"12345678")
    os.read(ends[0], 8)
print("done")
sys.stdin.read()
"""
NOTHING = Io(0, 0, 0, 0, 0, 0)


def touch_pages():
    for _ in range(4):
        with mmap.mmap(-1, 1 << 20) as pages:
            pages.write(b"x" * (1 << 20))


class CountersTest(HostCase):
    def added(self, program, *arguments):
        """What it did from its first line to its second."""
        child = self.spawn(program, *arguments)
        before = work_done.read(child.pid)
        child.stdin.write(b"go\n")
        child.stdin.flush()
        self.assertEqual(b"done\n", child.stdout.readline())
        return work_done.read(child.pid).since(before)

    def test_bytes_of_files_are_counted_though_they_come_from_the_page_cache(self):
        path = self.home / "weights"
        path.write_bytes(b"x" * (3 << 20))
        io = self.added(READER, str(path)).io
        self.assertGreaterEqual(io.bytes_read(), 3 << 20)
        self.assertLess(io.bytes_read(), 4 << 20)
        self.assertGreaterEqual(io.bytes_written(), 1 << 20)

    def test_signals_between_threads_are_no_data_however_many(self):
        done = self.added(SIGNALS)
        self.assertGreaterEqual(done.io.asked_read, 400_000)
        self.assertEqual((0, 0), (done.io.bytes_read(), done.io.bytes_written()))
        self.assertGreater(done.cpu_seconds, 0)

    def test_a_process_that_is_gone_has_none(self):
        child = self.spawn("print('up')")
        child.wait()
        self.assertIsNone(work_done.read(child.pid))

    def test_all_threads_of_a_process_count(self):
        before = work_done.read(os.getpid())
        threads = [threading.Thread(target=touch_pages) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertGreater(work_done.read(os.getpid()).since(before).faults, 1000)


class ProgressTest(unittest.TestCase):
    """Of what was added in five seconds."""

    def is_progress(self, faults=0, faults_from_disk=0, io=NOTHING):
        return vitality._is_progress(Done(5.0, faults, faults_from_disk, io), 5.0)

    def test_data_and_pages_are_and_processor_time_is_not(self):
        self.assertEqual(
            [False, False, True, False, True, False, True, True, True],
            [
                self.is_progress(),
                self.is_progress(faults=499),
                self.is_progress(faults=500),
                self.is_progress(faults_from_disk=49),
                self.is_progress(faults_from_disk=50),
                self.is_progress(io=Io(320_000, 0, 1, 0, 0, 0)),
                self.is_progress(io=Io(330_000, 0, 1, 0, 0, 0)),
                self.is_progress(io=Io(0, 330_000, 0, 1, 0, 0)),
                # A mapped file: nobody called for it.
                self.is_progress(io=Io(0, 0, 0, 0, 330_000, 0)),
            ],
        )

    def test_where_the_kernel_does_not_tell_of_data_the_pages_do(self):
        self.assertFalse(self.is_progress(io=None))
        self.assertTrue(self.is_progress(faults=500, io=None))


if __name__ == "__main__":
    unittest.main()
