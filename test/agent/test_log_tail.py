from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from agent import log_backlog, log_bound, log_tail
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
        self.append(b"".join(b"%d\n" % number for number in range(1, 2451)))
        self.assertEqual(2450, len(self.tail.poll()))
        self.tail.poll()
        self.assertEqual(
            [(1 + BATCH_LINES * at, BATCH_LINES) for at in range(10)],
            [(event["first"], len(event["lines"])) for event in self.emitted],
        )
        self.tail.drain()
        firsts = [(event["first"], len(event["lines"]), event["lines"][0]) for event in self.emitted[10:]]
        self.assertEqual([(2001, 200, "2001"), (2201, 200, "2201"), (2401, 50, "2401")], firsts)

    def test_what_would_act_on_a_terminal_is_taken_out(self) -> None:
        self.append(b"\x1b[1;31mERROR\x1b[0m a\tb \x1b]0;title\x07\x07c\x00\xc2\x9b\n")
        self.assertEqual(["ERROR a\tb c"], self.tail.poll())

    def test_an_endless_log_costs_bounded_memory_and_keeps_its_beginning_end_and_numbers(self) -> None:
        """What was read goes by size, what was not read is only counted."""
        self._shrink()
        numbers = b"".join(b"%07d\n" % number for number in range(1, 10_001))
        self.append(numbers)
        self.tail.poll()
        self.tail.drain()
        self.assertEqual([*range(1, 101), *range(9_901, 10_001)], self._told())
        self.append(numbers)
        self.tail.drain()
        self.assertEqual([*range(19_901, 20_001)], self._told()[200:])

    def test_a_look_at_a_huge_log_reads_a_part_of_it(self) -> None:
        self._shrink()
        log_tail._LOOK_BYTES = 800
        self.append(b"".join(b"%07d\n" % number for number in range(1, 251)))
        self.assertEqual([100, 100, 50, 0], [len(self.tail.poll()) for _ in range(4)])

    def _shrink(self) -> None:
        """Room for 100 lines of 8 bytes at each end."""
        for module, name in (
            (log_backlog, "HEAD_BYTES"),
            (log_backlog, "TAIL_BYTES"),
            (log_tail, "TAIL_BYTES"),
            (log_tail, "_LOOK_BYTES"),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, 800 if name != "_LOOK_BYTES" else 1 << 20)
        self.tail = LogTail(self.log, self.emitted.append)

    def _told(self) -> list[int]:
        """Numbers of the lines that were told; each is what its line says, counted on."""
        told = []
        for event in self.emitted:
            for number, line in enumerate(event["lines"], event["first"]):
                self.assertEqual((number - 1) % 10_000 + 1, int(line))
                told.append(number)
        return told

    def test_a_log_that_was_bounded_under_it_is_read_on_from_where_it_was(self) -> None:
        self.append(_numbers(1, 1000))
        self.assertEqual(1000, len(self.tail.poll()))
        self._bound()
        self.assertEqual([], self.tail.poll())
        self.append(_numbers(1001, 1002))
        self.assertEqual(["0001001", "0001002"], self.tail.poll())
        self.tail.drain()
        self.assertEqual([*range(1, 1003)], self._told())

    def test_a_half_line_is_whole_in_a_log_that_was_bounded_meanwhile(self) -> None:
        self.append(_numbers(1, 1000) + b"0001")
        self.tail.poll()
        self._bound()
        self.append(b"001\n")
        self.assertEqual(["0001001"], self.tail.poll())

    def test_lines_that_were_taken_out_before_it_read_them_are_counted(self) -> None:
        self.append(_numbers(1, 1000))
        self._bound()
        self.assertEqual(499, len(self.tail.poll()))
        self.append(_numbers(1001, 2000))
        self._bound()
        self.append(_numbers(2001, 2001))
        self.assertEqual("0002001", self.tail.poll()[-1])
        self.tail.drain()
        self.assertEqual([*range(1, 250), *range(751, 1001), *range(1751, 2002)], self._told())

    def test_they_are_counted_in_what_is_skipped_at_the_end_too(self) -> None:
        self.append(_numbers(1, 1000))
        self._bound()
        self._shrink()
        self.tail.drain()
        self.assertEqual([*range(901, 1001)], self._told())

    def test_a_log_that_was_emptied_by_hand_is_read_anew_and_its_numbers_go_on(self) -> None:
        self.append(b"one\ntwo\n")
        self.tail.poll()
        self.log.write_bytes(b"new\n")
        self.assertEqual(["new"], self.tail.drain())
        self.assertEqual((3, ["new"]), (self.emitted[-1]["first"], self.emitted[-1]["lines"][-1:]))

    def _bound(self) -> None:
        self.assertGreater(log_bound.bound(self.log, 7999), 0)

    def test_the_last_line_that_says_something_is_known(self) -> None:
        self.append(b"loading\n\n  \n")
        self.tail.poll()
        self.assertEqual("loading", self.tail.last_line)


def _numbers(first: int, last: int) -> bytes:
    return b"".join(b"%07d\n" % number for number in range(first, last + 1))


if __name__ == "__main__":
    unittest.main()
