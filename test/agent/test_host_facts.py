"""host_facts.py: the machine as the kernel tells it."""

import os
import resource
import time
from unittest import mock

from agent import host_facts

from .bed import HostCase


class HostFactsTest(HostCase):
    def test_memory_limits_and_clock_are_those_of_this_login(self):
        before = time.time()
        told = host_facts.look()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.assertEqual((told["openFilesSoft"], told["openFilesHard"]), (soft, hard))
        self.assertTrue(before <= told["clockSeconds"] <= time.time())
        self.assertTrue(0 < told["memoryAvailableBytes"] <= told["memoryTotalBytes"])
        shm = os.statvfs("/dev/shm")
        self.assertEqual(told["shmTotalBytes"], shm.f_blocks * shm.f_frsize)
        self.assertTrue(0 <= told["shmFreeBytes"] <= told["shmTotalBytes"])

    def test_of_a_container_the_limit_counts(self):
        table, limit = self.home / "meminfo", self.home / "limit"
        table.write_text("MemTotal:  1000 kB\nMemAvailable:  900 kB\n")
        limit.write_text("512000\n")
        places = {"_MEMORY_TABLE": str(table), "_MEMORY_LIMITS": (str(self.home / "none"), str(limit))}
        with mock.patch.multiple(host_facts, **places):
            self.assertEqual(host_facts._memory(), (512000, 512000))
            limit.write_text("max\n")
            self.assertEqual(host_facts._memory(), (1024000, 921600))
            table.unlink()
            self.assertEqual(host_facts._memory(), (None, None))
