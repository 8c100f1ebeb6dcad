"""log_follow.py: the end of a log, and what comes after it."""

from __future__ import annotations

import os
import threading
import time
from typing import Any
from unittest import mock

from agent import events, log_follow, logs, paths, records

from .bed import OWNER, HostCase, run_agent

SERVER = "chat-00000001"
LOGS = {
    "op": "logs",
    "protocol": 1,
    "deadlineSeconds": 30,
    "serverId": SERVER,
    "lines": 2,
    "follow": False,
    "generation": None,
}


class LogFollowTest(HostCase):
    def setUp(self) -> None:
        super().setUp()
        self.record(SERVER, owner={**OWNER, "serverId": SERVER})

    def log(self, generation: int, text: str) -> None:
        records.make_folder(logs.folder(SERVER))
        with open(logs.path(SERVER, generation), "a", encoding="utf-8") as file:
            file.write(text)

    def told(self, **changes: Any) -> list[Any]:
        _code, events, _stderr = run_agent({**LOGS, **changes})
        return [event for event in events if event["event"] != "hello"]

    def test_the_last_lines_of_the_newest_start_come_with_their_numbers_and_without_secrets(self) -> None:
        self.log(1, "old\n")
        self.log(2, "one\ntwo\nkey sesame-open\nunfinished")
        records.write_json(paths.server_folder(SERVER) / "secrets.json", {"KEY": "sesame-open"})
        self.assertEqual(
            [
                {"event": "generation", "generation": 2},
                {"event": "log", "first": 2, "lines": ["two", "key ***"]},
                {"event": "result", "result": {"generation": 2}},
            ],
            self.told(),
        )
        self.assertEqual({"event": "log", "first": 1, "lines": ["old"]}, self.told(generation=1)[1])

    def test_what_is_not_there_is_told(self) -> None:
        def found(**changes: Any) -> str:
            [event] = self.told(**changes)
            self.assertEqual("LOG_NOT_FOUND", event["error"]["code"])
            return str(event["error"]["summary"])

        self.assertEqual(
            f"Cannot read the log of {SERVER}: it was never started here, or its logs were deleted", found()
        )
        self.log(3, "x\n")
        self.assertEqual(
            f"Cannot read the log of {SERVER}: there is none of start 2, there are those of 3",
            found(generation=2),
        )
        self.assertEqual(
            "Cannot read the log of other-00000001: this host has no record of it",
            found(serverId="other-00000001"),
        )

    def test_it_goes_on_over_restarts_until_the_server_is_deleted(self) -> None:
        self.log(1, "one\ntwo\nthree\n")
        told: list[Any] = []
        results: list[Any] = []
        with mock.patch.object(events, "emit", told.append):
            thread = threading.Thread(
                target=lambda: results.append(log_follow.run({**LOGS, "follow": True})), daemon=True
            )
            thread.start()
            self.await_lines(told, ["two", "three"])
            self.log(1, "four\n")
            self.await_lines(told, ["two", "three", "four"])
            self.log(2, "five\n")
            self.await_lines(told, ["two", "three", "four", "five"])
            os.rename(paths.server_folder(SERVER), self.home / "gone")
            thread.join(10)
        self.assertEqual([{"generation": 2}], results)
        self.assertEqual([1, 2], [event["generation"] for event in told if event["event"] == "generation"])

    def await_lines(self, told: list[Any], wanted: list[str]) -> None:
        end = time.monotonic() + 10
        while (
            lines := [line for event in list(told) if event["event"] == "log" for line in event["lines"]]
        ) != wanted:
            self.assertLess(time.monotonic(), end, lines)
            time.sleep(0.02)
