"""Logs of a server that runs under its supervisor: how many there are, how big one gets."""

from __future__ import annotations

import os
import sys
import unittest
from typing import Any

from agent import log_bound, log_keeper, run_record, supervisor
from test.agent.acting import ActingCase, kill

BOUND = 16_000
# Prints a numbered line at a time, faster than anybody looks; ends when told to by a file.
_CHATTY = """#!{python} -IS
import os, sys, time
number = 0
while not os.path.exists({told!r}):
    for _ in range(200):
        number += 1
        os.write(1, b"%07d\\n" % number)
    time.sleep(0.005)
os.write(1, b"last words\\n")
sys.exit(3)
"""


def policy(keep: int, max_bytes: int, **changes: Any) -> dict[str, Any]:
    restart = {"max": 6, "withinSeconds": 600, "delaySeconds": 0}
    logs = {"keep": keep, "maxBytes": max_bytes}
    return {
        "kind": "policy",
        "restart": restart,
        "startOnBoot": False,
        "logs": logs,
        "configYaml": "",
        **changes,
    }


class KeptTest(ActingCase):
    def kept(self) -> list[str]:
        return sorted(name for name in os.listdir(self.state() / "logs") if name.endswith(".log"))

    def given_up(self) -> bool:
        return bool(self.run_json()["state"] == "gave-up")

    def test_the_newest_and_the_one_that_tells_how_the_loop_began_are_kept(self) -> None:
        self.start({"exit_after": 0}, restart=(6, 600, 0), logs={"keep": 4, "maxBytes": BOUND})
        self.until(self.given_up)
        self.assertEqual(["1.log", "5.log", "6.log", "7.log"], self.kept())

    def test_with_room_for_one_it_is_the_newest(self) -> None:
        self.start({"exit_after": 0}, restart=(2, 600, 0), logs={"keep": 1, "maxBytes": BOUND})
        self.until(self.given_up)
        self.assertEqual(["3.log"], self.kept())

    def test_a_server_of_an_earlier_version_keeps_five(self) -> None:
        self.start({"exit_after": 0}, restart=(6, 600, 0))
        self.until(self.given_up)
        self.assertEqual(["1.log", "4.log", "5.log", "6.log", "7.log"], self.kept())

    def test_a_policy_of_fewer_counts_at_once_and_for_the_next_start(self) -> None:
        for _ in range(3):
            self.start({"exit_after": 0}, logs={"keep": 5, "maxBytes": BOUND})
            self.until(self.given_up)
            self.stop()
        self.start({"exit_after": 3600}, restart=(6, 600, 0), logs={"keep": 5, "maxBytes": BOUND})
        self.assertEqual(["1.log", "2.log", "3.log", "4.log"], self.kept())
        self.apply(policy(2, BOUND))
        self.assertEqual(["3.log", "4.log"], self.kept())
        kill(run_record.living(self.run_json(), "leader"))
        self.until(lambda: self.run_json()["generation"] == 5)
        self.assertEqual(["4.log", "5.log"], self.kept())


class BoundTest(ActingCase):
    def setUp(self) -> None:
        super().setUp()
        self.told = self.folder / "told"
        self._patch(supervisor, "_LOOK_YOUNG_SECONDS", 0.01)
        self.executable.write_text(
            _CHATTY.format(python=os.path.realpath(sys.executable), told=str(self.told))
        )

    def size(self) -> int:
        return (self.state() / "logs" / "1.log").stat().st_size

    def printed(self) -> int:
        """Lines so far, those that were taken out too."""
        newest = [line for line in self.log().splitlines() if line.isdigit()][-1:]
        return int(newest[0]) if newest else 0

    def test_a_log_stays_below_its_bound_while_it_grows_and_has_its_first_and_its_newest_lines(self) -> None:
        self.start({}, logs={"keep": 5, "maxBytes": BOUND})
        self.until(lambda: self.printed() * 8 > 20 * BOUND)
        # What is printed between two looks comes on top.
        self.assertLess(self.size(), 3 * BOUND)
        self.told.touch()
        self.until(lambda: self.run_json()["state"] == "gave-up")
        lines = self.log().splitlines()
        self.assertLessEqual(self.size(), BOUND)
        self.assertEqual(["0000001", "0000002", "last words"], [*lines[:2], lines[-1]])
        self.assertEqual(1, sum("taken out" in line for line in lines))
        self.assertEqual(0o600, (self.state() / "logs" / "1.log").stat().st_mode & 0o777)

    def test_a_bound_that_is_changed_counts_for_the_server_that_runs(self) -> None:
        self.start({}, logs={"keep": 5, "maxBytes": 1 << 30})
        self.until(lambda: self.size() > 4 * BOUND)
        self.apply(policy(5, BOUND))
        self.until(lambda: self.size() < BOUND)

    def test_a_log_that_cannot_be_bounded_does_not_end_the_supervision(self) -> None:
        def fail(*_: Any) -> int:
            raise OSError(28, "No space left on device")

        self._patch(log_bound, "bound", fail)
        self.start({}, logs={"keep": 5, "maxBytes": BOUND})
        self.until(lambda: self.size() > 2 * BOUND)
        self.assertFalse(self.supervisor_gone())
        self.told.touch()
        self.until(lambda: self.run_json()["exits"] and self.supervisor_gone())

    def test_a_log_that_is_nearly_full_is_looked_at_more_often(self) -> None:
        self.start({}, logs={"keep": 5, "maxBytes": 1 << 30})
        keeper = log_keeper.LogKeeper(self.server_id, None)  # type: ignore[arg-type]
        self.assertFalse(keeper.bound(1))
        self.told.touch()
        self.until(lambda: self.run_json()["exits"])
        self.apply(policy(5, int(self.size() * 1.2)))
        self.assertTrue(keeper.bound(1))


if __name__ == "__main__":
    unittest.main()
