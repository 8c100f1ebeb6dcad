"""records.py: whole or not there, and a full disk is said as such."""

import os
import stat
import subprocess
import sys
import unittest

from agent import records
from agent.failure import AgentFailure

from . import AGENT_FOLDER
from .bed import HostCase


class RecordsTest(HostCase):
    def test_what_was_written_is_read_and_is_private(self):
        path = self.home / "a" / "b" / "x.json"
        records.write_json(path, {"k": ["ü", None]})
        self.assertEqual(records.read_json(path), {"k": ["ü", None]})
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(path.parent.stat().st_mode), 0o700)
        self.assertEqual(os.listdir(path.parent), ["x.json"])

    def test_missing_and_damaged_files_read_as_none(self):
        damaged = self.home / "x.json"
        damaged.write_bytes(b'{"k": \xff')
        self.assertIsNone(records.read_json(damaged))
        self.assertIsNone(records.read_json(self.home / "none.json"))
        self.assertIsNone(records.read_json(damaged / "below.json"))

    def test_a_full_disk_keeps_the_old_file_and_leaves_nothing_behind(self):
        path = self.home / "x.json"
        records.write_json(path, "old")
        # The limit is of a process of its own: it would hit the test runner's output too.
        code = (
            f"import sys, resource; sys.path.insert(0, {str(AGENT_FOLDER.parent)!r})\n"
            "from agent import records, failure\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))\n"
            f"try: records.write_json({str(path)!r}, 'x' * 100)\n"
            "except failure.AgentFailure as error: print(error.code, error.retryable, error.evidence)\n"
        )
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        self.assertEqual(told, "DISK_FULL True [Errno 27] File too large\n")
        self.assertEqual(records.read_json(path), "old")
        self.assertEqual(sorted(os.listdir(self.home)), ["bin", "x.json"])

    def test_no_space_left_is_disk_full_with_path_and_free_bytes(self):
        with self.assertRaises(AgentFailure) as caught:
            with records.disk_failures("write", self.home / "full"):
                with open("/dev/full", "w", encoding="utf-8") as file:
                    file.write("x")
        self.assertEqual(caught.exception.code, "DISK_FULL")
        self.assertRegex(
            caught.exception.summary,
            rf"^Cannot write {self.home}/full: the disk or quota is full \(\d+ bytes free\), need room$",
        )

    @unittest.skipIf(os.getuid() == 0, "root may write anywhere")
    def test_a_folder_that_may_not_be_written_is_named(self):
        (self.home / "shut").mkdir(mode=0o500)
        with self.assertRaises(AgentFailure) as caught:
            records.write_json(self.home / "shut" / "x.json", 1)
        self.assertEqual(caught.exception.code, "PERMISSION_DENIED")

    def test_free_bytes_are_those_of_the_nearest_folder_there_is(self):
        found = os.statvfs(self.home)
        self.assertAlmostEqual(
            records.free_bytes(self.home / "not" / "yet"), found.f_bavail * found.f_frsize, delta=1 << 28
        )
