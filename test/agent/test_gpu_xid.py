"""gpu_xid.py: what the kernel's log tells of GPUs, where it may be read."""

from agent import gpu_xid

from .bed import HostCase

FALLEN = "NVRM: Xid (PCI:0000:41:00): 79, pid=4711, name=python3, GPU has fallen off the bus."
LOG = f"""[    1.0] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.65.06
[  100.5] NVRM: Xid (PCI:0000:C1:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error
[  200.5] {FALLEN.replace("4711", "4710")}
[  201.5] NVRM: GPU 0000:41:00.0: GPU has fallen off the bus.
[  300.5] {FALLEN}
"""


class GpuXidTest(HostCase):
    def reader(self, name, text, code=0):
        (self.home / name).write_text(text)
        self.program(name, f'#!/bin/sh\ncat "$HOME/{name}"\nexit {code}\n')

    def test_each_fault_of_a_gpu_comes_once_with_its_newest_line(self):
        self.reader("dmesg", LOG)
        self.assertEqual(
            gpu_xid.look(),
            [
                {
                    "pciBusId": "0000:c1:00",
                    "xid": 48,
                    "line": "NVRM: Xid (PCI:0000:C1:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error",
                },
                {"pciBusId": "0000:41:00", "xid": 79, "line": FALLEN},
            ],
        )

    def test_the_journal_is_asked_where_the_ring_is_roots_alone(self):
        self.reader("dmesg", "", 1)
        self.reader("journalctl", FALLEN + "\n")
        self.assertEqual([row["xid"] for row in gpu_xid.look()], [79])

    def test_a_log_without_faults_is_known_to_have_none(self):
        self.reader("dmesg", "[    0.0] Linux version 6.1.0\n")
        self.assertEqual(gpu_xid.look(), [])

    def test_a_log_that_may_not_be_read_tells_nothing(self):
        self.reader("dmesg", "", 1)
        self.reader("journalctl", "")
        self.assertIsNone(gpu_xid.look())

    def test_a_gpu_that_dies_over_and_over_does_not_fill_the_answer(self):
        lines = [FALLEN.replace(": 79,", f": {number},") for number in range(1, 200)]
        self.reader("dmesg", "\n".join([*lines, FALLEN + "x" * 9000]))
        told = gpu_xid.look()
        self.assertEqual((len(told), told[-1]["xid"], len(told[-1]["line"])), (40, 79, 300))
