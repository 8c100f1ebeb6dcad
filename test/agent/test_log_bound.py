from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from agent import log_bound, log_marker

from . import AGENT_FOLDER

_SH = (AGENT_FOLDER / "log-bound.sh").read_text() + 'bound_log "$log" "$max"'
_PRINTER = """
import os, sys
descriptor = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
for number in range(1, int(sys.argv[2]) + 1):
    os.write(descriptor, b"%07d\\n" % number)
"""


class LogBoundCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="pvllm-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "1.log"

    def append(self, data: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(data)

    def marker(self) -> log_marker.Marker:
        with self.log.open("rb") as file:
            found = log_marker.find(file, self.log.stat().st_size)
        assert found is not None
        return found


class BoundTest(LogBoundCase):
    def test_a_log_below_its_bound_or_not_there_is_left_alone(self) -> None:
        self.assertEqual(0, log_bound.bound(self.log, 8000))
        self.append(b"x\n" * 4000)
        self.assertEqual(0, log_bound.bound(self.log, 8000))
        self.assertEqual(b"x\n" * 4000, self.log.read_bytes())

    def test_its_beginning_and_its_newest_lines_stay_and_the_line_between_says_what_is_missing(self) -> None:
        self.append(_numbered(1, 1001))
        log_bound.bound(self.log, 8000)
        kept = [*range(1, 251), *range(752, 1002)]
        expected = "".join("%07d\n" % number for number in kept)
        told = "[pulumi-vllm: 501 lines (4008 bytes) were taken out here, the next is line 752; service.logs.maxBytes was reached]\n"
        self.assertEqual(expected[:2000] + told + expected[2000:], self.log.read_text())

    def test_it_is_the_same_file_with_the_same_mode_and_beside_it_is_nothing(self) -> None:
        self.append(_numbered(1, 2000))
        self.log.chmod(0o600)
        before = self.log.stat()
        self.assertGreater(log_bound.bound(self.log, 8000), 0)
        after = self.log.stat()
        self.assertEqual((before.st_ino, before.st_mode), (after.st_ino, after.st_mode))
        self.assertEqual(["1.log"], os.listdir(self.folder))

    def test_a_log_is_rewritten_once_for_each_half_bound_that_is_printed(self) -> None:
        rewritten = 0
        for number in range(1, 5001):
            self.append(_numbered(number, number))
            rewritten += log_bound.bound(self.log, 8000) > 0
            self.assertLessEqual(self.log.stat().st_size, 8000)
        self.assertEqual(9, rewritten)

    def test_the_beginning_is_that_of_the_start_however_often_lines_were_taken_out(self) -> None:
        for begin in range(1, 5001, 500):
            self.append(_numbered(begin, begin + 499))
            log_bound.bound(self.log, 8000)
        text = self.log.read_bytes()
        self.assertEqual(1, text.count(b"taken out"))
        self.assertTrue(text.startswith(_numbered(1, 250)))
        self.assertTrue(text.endswith(b"]\n" + _numbered(4751, 5000)))

    def test_a_line_without_end_is_cut(self) -> None:
        self.append(b"\r12%" * 5000)
        log_bound.bound(self.log, 8000)
        self.assertLess(self.log.stat().st_size, 8000)
        self.assertEqual(b"\r12%" * 500 + b"\n[pul", self.log.read_bytes()[:2005])

    def test_a_link_is_not_followed(self) -> None:
        other = self.folder / "other"
        other.write_bytes(b"x\n" * 8000)
        self.log.symlink_to(other)
        self.assertEqual(0, log_bound.bound(self.log, 4096))
        self.assertEqual(16000, other.stat().st_size)

    def test_what_is_printed_while_it_is_cut_is_whole_and_in_order(self) -> None:
        self.append(b"")
        count = 200_000
        with subprocess.Popen([sys.executable, "-ISc", _PRINTER, self.log, str(count)]) as printer:
            cuts = 0
            while printer.poll() is None:
                cuts += log_bound.bound(self.log, 64_000) > 0
        log_bound.bound(self.log, 64_000)
        lines = [line for line in self.log.read_text().splitlines() if not line.startswith("[pulumi-vllm")]
        self.assertEqual([], [line for line in lines if re.fullmatch(r"\d{7}", line) is None])
        self.assertEqual(sorted(set(lines)), lines)
        self.assertEqual(("0000001", f"{count:07d}"), (lines[0], lines[-1]))
        self.assertGreater(cuts, 1)


class MarkerTest(LogBoundCase):
    def test_it_leads_back_to_the_log_as_it_was_written_whatever_the_bounds_were(self) -> None:
        chance = random.Random(4)
        for _ in range(40):
            self.log.unlink(missing_ok=True)
            written = b""
            for _ in range(chance.randint(1, 8)):
                printed = _ragged(chance, written.count(b"\n") + 1)
                written += printed
                self.append(printed)
                self.assertLessEqual(0, log_bound.bound(self.log, chance.choice([4096, 5000, 9000, 20000])))
            self._check(written)

    def _check(self, written: bytes) -> None:
        text = self.log.read_bytes()
        if text == written:
            return
        marker = self.marker()
        self.assertEqual(written[: marker.start], text[: marker.start])
        self.assertEqual(written[marker.start + marker.missing_bytes :], text[marker.end :])
        self.assertEqual(marker.next_line, written[: marker.start + marker.missing_bytes].count(b"\n") + 1)
        self.assertEqual(marker.lines, marker.next_line - 1 - text[: marker.start].count(b"\n"))


class ShellTest(LogBoundCase):
    def test_the_rule_as_sh_leaves_the_same_bytes(self) -> None:
        chance = random.Random(5)
        folder = self.folder / "a 'b\" $c"
        folder.mkdir()
        other = folder / "-1.log"
        for _ in range(12):
            self.log.write_bytes(b"")
            other.write_bytes(b"")
            for _ in range(chance.randint(1, 5)):
                printed = _ragged(chance, 1)
                if chance.random() < 0.2:
                    # As progress bars do.
                    printed = printed.replace(b"\n", b"\r")
                self.append(printed)
                with other.open("ab") as file:
                    file.write(printed)
                most = chance.choice([100, 4096, 9000, 20000])
                log_bound.bound(self.log, most)
                self._sh(other, most)
                self.assertEqual(self.log.read_bytes(), other.read_bytes())

    def test_a_link_and_a_log_that_is_not_there_are_left_alone(self) -> None:
        (self.folder / "other").write_bytes(b"x\n" * 8000)
        self.log.symlink_to("other")
        self._sh(self.log, 4096)
        self._sh(self.folder / "missing.log", 4096)
        self.assertEqual(16000, self.log.stat().st_size)
        self.assertEqual(["1.log", "other"], sorted(os.listdir(self.folder)))

    def _sh(self, log: Path, most: int) -> None:
        environment = {"PATH": os.environ["PATH"], "log": str(log), "max": str(most)}
        done = subprocess.run(["sh", "-c", _SH], env=environment, capture_output=True, timeout=60)
        self.assertEqual((0, b"", b""), (done.returncode, done.stdout, done.stderr))


def _numbered(first: int, last: int) -> bytes:
    return b"".join(b"%07d\n" % number for number in range(first, last + 1))


def _ragged(chance: random.Random, first: int) -> bytes:
    """Lines of every length."""
    lengths = (chance.choice([0, 5, 50, 200]) for _ in range(chance.randint(1, 200)))
    return b"".join(b"%d %s\n" % (first + index, b"\xff" * length) for index, length in enumerate(lengths))


if __name__ == "__main__":
    unittest.main()
