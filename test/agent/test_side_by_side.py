"""side_by_side: many looks at once, each told by itself."""

import threading
import unittest

from agent import side_by_side


class SideBySideTest(unittest.TestCase):
    def test_looks_run_at_the_same_time(self):
        together = threading.Barrier(5, timeout=30)
        seen = side_by_side.run(dict.fromkeys(range(5), together.wait))
        self.assertEqual(sorted(seen.told(index) for index in range(5)), [0, 1, 2, 3, 4])

    def test_but_never_more_than_allowed(self):
        lock = threading.Lock()
        pair = threading.Barrier(2, timeout=30)
        running, most = [], []

        def look():
            with lock:
                running.append(1)
                most.append(len(running))
            pair.wait()
            with lock:
                running.pop()

        side_by_side.run(dict.fromkeys(range(6), look), most=2)
        self.assertEqual((len(most), max(most)), (6, 2))

    def test_what_one_look_raises_is_raised_where_it_is_asked_for_and_nowhere_else(self):
        def fail():
            raise OSError("gone")

        seen = side_by_side.run({"bad": fail, "good": lambda: 1, "empty": lambda: None})
        self.assertEqual((seen.told("good"), seen.told("empty")), (1, None))
        self.assertEqual((seen.told_or_none("bad"), seen.told_or_none("good")), (None, 1))
        with self.assertRaisesRegex(OSError, "gone"):
            seen.told("bad")

    def test_nothing_to_look_at_is_nothing_told(self):
        self.assertEqual(side_by_side.run({}).values, {})
