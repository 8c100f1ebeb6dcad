"""Which failures are one loop, and what an observation tells of them."""

import unittest

from agent import crash_loop, crashes, log_bound, paths

from .observing import ID, READY, ObservedCase

WINDOW = 600


def ended(generation, at, served=None, code=1):
    """An exit `at` seconds after ten o'clock."""
    time = f"2026-12-01T{10 + at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}.000Z"
    entry = {"generation": generation, "code": code, "signal": None, "at": time}
    return entry if served is None else {**entry, "served": served}


class LoopTest(unittest.TestCase):
    def loop(self, *exits, asked=1):
        return [entry["generation"] for entry in crash_loop.of(exits, asked, WINDOW)]

    def test_exits_within_the_window_of_each_other_are_one_loop(self):
        self.assertEqual([1, 2, 3], self.loop(ended(1, 0), ended(2, 600, served=True), ended(3, 1200)))

    def test_a_life_longer_than_the_window_ends_a_loop_and_its_own_end_begins_the_next(self):
        self.assertEqual([2, 3], self.loop(ended(1, 0), ended(2, 601, served=True), ended(3, 700)))

    def test_a_start_that_never_served_follows_on_the_one_before_however_long_it_took(self):
        self.assertEqual([1, 2, 3], self.loop(ended(1, 0), ended(2, 5000, False), ended(3, 9000, False)))

    def test_exits_before_the_start_that_was_asked_for_are_of_the_past(self):
        self.assertEqual([3], self.loop(ended(1, 0), ended(2, 1), ended(3, 2), asked=3))
        self.assertEqual([], self.loop(ended(1, 0), asked=2))

    def test_a_time_that_makes_no_sense_ends_a_loop(self):
        self.assertEqual([2], self.loop({**ended(1, 0), "at": "t"}, ended(2, 1)))

    def test_the_first_of_a_long_loop_stays_among_the_few_that_are_kept(self):
        exits = [ended(number, number) for number in range(1, 8)]
        kept = crash_loop.trimmed(exits, 3, 1, WINDOW)
        self.assertEqual([1, 6, 7], [entry["generation"] for entry in kept])
        kept = crash_loop.trimmed(exits, 3, 6, WINDOW)
        self.assertEqual([5, 6, 7], [entry["generation"] for entry in kept])


class CrashesTest(ObservedCase):
    def gave_up(self, *exits, state="gave-up"):
        """The server as it is seen."""
        self.run.update(state=state, exits=list(exits), generation=exits[-1]["generation"])
        self.record(
            ID, launch=self.launch(), run=self.run, secrets={"VLLM_API_KEY": "sesame", "HF_TOKEN": "hf_abc"}
        )
        return self.observe()["server"]

    def log(self, generation, text):
        folder = paths.server_folder(ID) / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{generation}.log"
        path.write_bytes(text)
        return path

    def test_given_up_after_restarts_it_is_crash_looping_and_the_first_and_last_failure_are_told(self):
        self.log(1, b"first\n\x1b[31mwith sesame\x1b[0m\n")
        self.log(3, b"last of hf_abc")
        exits = [ended(1, 0), ended(2, 10), ended(3, 20, code=9)]
        seen = self.gave_up(*exits)
        self.assertEqual("crash-looping", seen["status"])
        self.assertEqual(
            [
                {"exit": exits[0], "log": [{"first": 1, "lines": ["first", "with ***"]}]},
                {"exit": exits[2], "log": [{"first": 1, "lines": ["last of ***"]}]},
            ],
            seen["crashes"],
        )

    def test_a_server_that_died_for_the_first_time_in_long_has_crashed(self):
        self.log(2, b"why\n")
        seen = self.gave_up(ended(1, 0), ended(2, 3000, served=True))
        self.assertEqual("crashed", seen["status"])
        self.assertEqual(
            [{"exit": ended(2, 3000), "log": [{"first": 1, "lines": ["why"]}]}],
            seen["crashes"],
        )

    def test_one_that_waits_for_its_next_start_tells_too_and_one_that_was_stopped_does_not(self):
        self.supervised()
        self.assertEqual(
            [1, 2],
            [
                one["exit"]["generation"]
                for one in self.gave_up(ended(1, 0), ended(2, 1), state="restarting")["crashes"]
            ],
        )
        self.assertEqual([], self.gave_up(ended(1, 0), ended(2, 1), state="stopped")["crashes"])

    def test_one_that_came_back_by_itself_tells_a_refresh_why_it_had_died(self):
        self.server()
        self.supervised()
        self.log(2, b"why\n")
        self.run.update(exits=[ended(1, 0), ended(2, 10)], generation=3)
        ready = {**READY, "generation": 3, "probe": "health"}
        self.record(ID, launch=self.launch(), run=self.run, ready=ready)
        seen = self.observe(asksToken=True)["server"]
        self.assertEqual("ready", seen["status"])
        self.assertEqual([{"exit": ended(2, 10), "log": [{"first": 1, "lines": ["why"]}]}], seen["crashes"])
        self.assertEqual([], self.observe()["server"]["crashes"], "nobody else pays for it")

    def test_a_log_that_is_gone_is_said_to_be(self):
        self.assertEqual([None], [one["log"] for one in self.gave_up(ended(1, 0))["crashes"]])

    def test_of_a_long_log_the_beginning_and_the_end_are_told_with_their_line_numbers(self):
        self.log(1, _numbers(1, 100_000))
        told = self.gave_up(ended(1, 0))["crashes"][0]["log"]
        self._check_numbers(told, 100_000)
        self.assertEqual([1, 91_810], [stretch["first"] for stretch in told])

    def test_lines_that_were_taken_out_count(self):
        for most in (4 << 20, 400_000, 100_000):
            path = self.log(1, _numbers(1, 1_000_000))
            self.assertGreater(log_bound.bound(path, most), 0)
            with path.open("ab") as file:
                file.write(_numbers(1_000_001, 1_000_002))
            told = self.gave_up(ended(1, 0))["crashes"][0]["log"]
            self._check_numbers(told, 1_000_002)
            self.assertLessEqual(sum(len(stretch["lines"]) for stretch in told) * 8, 2 * crashes.PART_BYTES)

    def _check_numbers(self, told, last):
        """Each line says its number."""
        wrong = [
            (number, line)
            for stretch in told
            for number, line in enumerate(stretch["lines"], stretch["first"])
            if number != int(line)
        ]
        self.assertEqual([], wrong[:3])
        self.assertEqual(f"{last:07d}", told[-1]["lines"][-1])
        self.assertEqual("0000001", told[0]["lines"][0])


def _numbers(first, last):
    return b"".join(b"%07d\n" % number for number in range(first, last + 1))


if __name__ == "__main__":
    unittest.main()
