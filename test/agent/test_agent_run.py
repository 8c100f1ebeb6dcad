from __future__ import annotations

import os
import unittest
from typing import Any

from agent import run_record
from test.agent.acting import ActingCase, wait_step
from test.agent.bed import run_agent


class AgentRunTest(ActingCase):
    """The whole way: one exec of the agent in memory, and what it leaves running afterwards."""

    def request(self, *steps: dict[str, Any]) -> dict[str, Any]:
        leader = run_record.living(self.run_json(), "leader")
        return {
            "protocol": 1,
            "deadlineSeconds": 50,
            "op": "apply",
            "serverId": self.server_id,
            "urn": "urn:chat",
            "client": "ann@laptop (shop/prod)",
            "lockWaitSeconds": 0,
            "expect": {
                "generation": run_record.generation_of(self.run_json()),
                "leaderPid": None if leader is None else leader[0],
            },
            "steps": list(steps),
        }

    def test_the_server_is_there_after_the_agent_has_gone_and_goes_with_the_next_one(self) -> None:
        launch = self.launch({"listen": 0.2, "engine": {"shm": self.shm}}, restart=(1, 600, 0.2))
        code, events, errors = run_agent(self.request({"kind": "start", "launch": launch}, wait_step()))
        self.assertEqual((0, ""), (code, errors))
        self.assertEqual("ready", events[-1]["result"]["steps"][1]["wait"]["outcome"], events[-1])
        leader = run_record.living(self.run_json(), "leader")
        assert leader is not None
        os.kill(leader[0], 9)
        self.until(
            lambda: self.run_json()["generation"] == 2 and run_record.living(self.run_json(), "leader")
        )
        code, events, errors = run_agent(
            self.request({"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 0})
        )
        self.assertEqual((0, ""), (code, errors))
        self.assertEqual(0, events[-1]["result"]["steps"][0]["stop"]["orphans"])
        self.assert_nothing_left()

    def test_the_secret_is_in_no_word_that_leaves_the_host(self) -> None:
        launch = self.launch({"log": "key is sesame\n", "exit_after": 0.2})
        _, events, _ = run_agent(self.request({"kind": "start", "launch": launch}, wait_step()))
        self.assertNotIn("sesame", str(events))
        self.assertIn("key is ***", str(events))


if __name__ == "__main__":
    unittest.main()
