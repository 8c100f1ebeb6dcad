"""disk_flush.py: what is written goes to the disk meanwhile, and a disk that refuses is heard of."""

import errno
import fcntl
import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import TextIO

from agent import disk_flush


class DiskFlushTest(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "written"
        self.folder.mkdir()
        self.addCleanup(setattr, disk_flush, "PAUSE_SECONDS", disk_flush.PAUSE_SECONDS)
        disk_flush.PAUSE_SECONDS = 0.01

    def children(self) -> list[str]:
        return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

    def test_it_ends_with_what_is_written(self) -> None:
        with disk_flush.meanwhile(self.folder):
            self.assertEqual(1, len(self.children()))
        self.assertEqual([], self.children())

    def test_a_lock_of_the_parent_is_its_own(self) -> None:
        place = self.folder.with_name("lock")
        held = os.open(place, os.O_RDWR | os.O_CREAT)
        fcntl.flock(held, fcntl.LOCK_EX)
        with open(place) as other, disk_flush.meanwhile(self.folder):
            os.close(held)
            end = time.monotonic() + 60
            while not is_taken(other):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            self.assertEqual(1, len(self.children()))

    def test_what_the_disk_refused_meanwhile_is_told_at_the_end(self) -> None:
        with self.assertRaises(OSError) as caught:
            with disk_flush.meanwhile(self.folder):
                self.folder.rmdir()
                # It has come to an end by itself, nobody has asked how.
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        self.assertEqual(errno.ENOENT, caught.exception.errno)
        self.assertEqual([], self.children())

    def test_a_failure_comes_first(self) -> None:
        with self.assertRaises(KeyError):
            with disk_flush.meanwhile(self.folder):
                (child,) = self.children()
                raise KeyError
        self.assertEqual(int(child), os.waitpid(-1, 0)[0])


def is_taken(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
