"""A start that is slow is told from one that hangs, by what its processes really do."""

from __future__ import annotations

import unittest
from typing import Any

from agent import vitality
from agent.vitality import SPIN_FACTOR, Vitality
from test.agent.acting import ActingCase

STARTED = "INFO:     Application startup complete.\n"
# Of the tests that wait for a hang; those that must not see one are at work for longer.
STALL_SECONDS = 2.0
SLOW_SECONDS = 2.5 * STALL_SECONDS


class SlowTest(ActingCase):
    """Nothing of it is fast, and none of it hangs."""

    def assert_ready(self, act: dict[str, Any], **wait: Any) -> None:
        self.start({"listen": SLOW_SECONDS, **act})
        result = self.wait(stallSeconds=STALL_SECONDS, **wait)
        self.assertEqual("ready", result["outcome"], result)

    def test_who_reads_is_alive(self) -> None:
        self.assert_ready({"work": ["read", SLOW_SECONDS]})

    def test_who_gets_memory_is_alive(self) -> None:
        self.assert_ready({"work": ["grow", SLOW_SECONDS]})

    def test_who_prints_is_alive(self) -> None:
        self.assert_ready({"late_log": [[0.5, f"{count}\n"] for count in range(10)]})

    def test_a_progress_bar_that_ends_no_line_is_a_sign_of_life(self) -> None:
        self.assert_ready({"late_log": [[0.5, f"\rCapturing {count}%"] for count in range(10)]})

    def test_without_a_bound_nothing_hangs(self) -> None:
        self.start({})
        self.assertEqual("timeout", self.wait(stallSeconds=0, timeoutSeconds=SLOW_SECONDS)["outcome"])


class HungTest(ActingCase):
    def hung(self, act: dict[str, Any], **wait: Any) -> dict[str, Any]:
        self.start(act)
        result = self.wait(stallSeconds=STALL_SECONDS, **wait)
        self.assertEqual("hung", result["outcome"], result)
        return result

    def test_one_that_does_nothing_hangs_and_what_its_processes_wait_in_is_told(self) -> None:
        result = self.hung({"log": "loading\n", "engine": {"shm": self.shm}})
        self.assertTrue(STALL_SECONDS <= result.pop("silentSeconds") < STALL_SECONDS + 5)
        seen = result.pop("processes")
        self.assertEqual([member.pid for member in self.members()], [one.pop("pid") for one in seen])
        for one in seen:
            self.assertIn("vllm serve /models/tiny --config", one.pop("command"))
            self.assertRegex(one.pop("place") or "nanosleep", "nanosleep|hrtimer|select|poll")
            self.assertLess(one.pop("cpuCores"), 0.05)
        self.assertEqual([{"state": "S"}] * 2, seen)
        left = {"outcome": "hung", "isSpinning": False, "unanswered": None}
        self.assertEqual(f"engine {self.members()[1].pid} is up", result.pop("lastLine"))
        self.assertEqual(left, result)

    def test_lines_that_only_say_that_somebody_waits_are_no_sign_of_life(self) -> None:
        lines = [[0.5, "No available block found in 60 seconds.\n"] for _ in range(20)]
        result = self.hung({"log": "loading\n", "late_log": lines}, idlePatterns=["^No available block"])
        self.assertEqual("No available block found in 60 seconds.", result["lastLine"])

    def test_one_that_only_spins_is_given_longer_and_not_for_ever(self) -> None:
        result = self.hung({"log": "connecting\n", "work": ["spin", 60]})
        self.assertTrue(result["isSpinning"])
        self.assertGreaterEqual(result["silentSeconds"], SPIN_FACTOR * STALL_SECONDS)
        self.assertGreater(result["processes"][0]["cpuCores"], 0.05)

    def test_one_that_listens_and_does_not_answer_hangs_too(self) -> None:
        result = self.hung({"log": STARTED, "listen": 0, "mute": True})
        self.assertEqual("POST /v1/completions", result["unanswered"])


class ToldTest(ActingCase):
    """What the user sees of a start that prints nothing."""

    def setUp(self) -> None:
        super().setUp()
        self._patch(vitality, "_TOLD_EVERY_SECONDS", 0.8)
        self._patch(vitality, "_LONGEST_WINDOW_SECONDS", 0.5)

    def quiet(self, act: dict[str, Any]) -> list[dict[str, Any]]:
        self.start(act)
        self.wait(timeoutSeconds=3)
        return [event["activity"] for event in self.events() if event["event"] == "quiet"]

    def test_a_slow_start_tells_what_it_does_at_most_so_often(self) -> None:
        told = self.quiet({"work": ["read", 20]})
        self.assertIn(len(told), (1, 2, 3))
        self.assertEqual(sorted(one["quietSeconds"] for one in told), [one["quietSeconds"] for one in told])
        self.assertGreaterEqual(told[0]["quietSeconds"], 0.8)
        self.assertEqual([0.0] * len(told), [one["stillSeconds"] for one in told])
        self.assertGreater(told[-1]["readBytesPerSecond"], 1_000_000)

    def test_a_start_that_is_still_tells_for_how_long(self) -> None:
        last = self.quiet({})[-1]
        self.assertGreater(last["stillSeconds"], 0)
        self.assertLess(last["cpuCores"], 0.05)

    def test_a_start_that_prints_tells_nothing_else(self) -> None:
        self.assertEqual([], self.quiet({"late_log": [[0.3, f"{count}\n"] for count in range(10)]}))

    def test_a_start_that_ran_out_of_time_tells_what_it_did_at_the_end(self) -> None:
        self.start({"work": ["spin", 20]})
        activity = self.wait(timeoutSeconds=3)["activity"]
        self.assertGreater(activity["cpuCores"], 0.05)
        self.assertGreater(activity["spinningSeconds"], 0)


class StoppedMachineTest(unittest.TestCase):
    def test_time_in_which_nobody_looked_does_not_count(self) -> None:
        moment = 0.0
        watch = Vitality(900, [], lambda _: None, lambda: moment)
        hung_at = None
        for moment in (1.0, *range(2000, 4000, 5)):
            if watch.look(list) is not None:
                hung_at = moment
                break
        self.assertEqual(2900, hung_at)


if __name__ == "__main__":
    unittest.main()
