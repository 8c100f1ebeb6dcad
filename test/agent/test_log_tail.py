from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from agent.log_tail import BATCH_LINES, LONGEST_LINE, LogTail


class LogTailTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="pvllm-")
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "1.log"
        self.emitted: list[dict[str, Any]] = []
        self.tail = LogTail(self.log, self.emitted.append)

    def append(self, data: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(data)

    def test_a_log_that_is_not_there_yet_has_no_lines(self) -> None:
        self.assertEqual([], self.tail.poll())
        self.assertEqual([], self.emitted)

    def test_a_half_line_waits_for_its_end(self) -> None:
        self.append(b"one\ntw")
        self.assertEqual(["one"], self.tail.poll())
        self.append(b"o\n")
        self.assertEqual(["two"], self.tail.poll())

    def test_a_half_line_is_told_when_nothing_more_comes(self) -> None:
        self.append(b"one\nno end")
        self.assertEqual(["one", "no end"], self.tail.drain())
        self.assertEqual([{"event": "log", "first": 1, "lines": ["one", "no end"]}], self.emitted)

    def test_carriage_returns_around_a_line_are_taken_off(self) -> None:
        self.append(b"\rLoading:  50% | 1/2\r\n\rLoading: 100% | 2/2\n")
        self.assertEqual(["Loading:  50% | 1/2", "Loading: 100% | 2/2"], self.tail.poll())

    def test_a_character_cut_between_two_reads_is_whole(self) -> None:
        text = "gr\u00fc\u00df".encode()
        self.append(text[:3])
        self.tail.poll()
        self.append(text[3:] + b"\n\xff\n")
        self.assertEqual(["gr\u00fc\u00df", "\ufffd"], self.tail.poll())

    def test_a_line_is_cut_at_8192_characters_however_it_comes(self) -> None:
        for _ in range(6):
            self.append(b"\r12%" * 3000)
            self.tail.poll()
        self.append(b"\nnext\n")
        lines = self.tail.poll()
        self.assertEqual([LONGEST_LINE, 4], [len(line) for line in lines])

    def test_batches_hold_200_lines_come_twice_a_second_and_the_rest_at_the_end(self) -> None:
        self.append(b"".join(b"%d\n" % number for number in range(1, 451)))
        self.assertEqual(450, len(self.tail.poll()))
        self.tail.poll()
        self.assertEqual(
            [(1, BATCH_LINES)], [(event["first"], len(event["lines"])) for event in self.emitted]
        )
        self.tail.drain()
        firsts = [(event["first"], len(event["lines"]), event["lines"][0]) for event in self.emitted]
        self.assertEqual([(1, 200, "1"), (201, 200, "201"), (401, 50, "401")], firsts)

    def test_the_last_line_that_says_something_is_known(self) -> None:
        self.append(b"loading\n\n  \n")
        self.tail.poll()
        self.assertEqual("loading", self.tail.last_line)


if __name__ == "__main__":
    unittest.main()
