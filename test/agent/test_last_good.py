"""last_good.py: what was ready last is kept until another one is ready, and can be started again as it was."""

from __future__ import annotations

import os
import urllib.request
from typing import Any

from agent import last_good, paths, records, registry
from test.agent.acting import ApplyCase, wait_step

STOP = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 0}
RETURN = {
    "kind": "return",
    "timeoutSeconds": 20,
    "fatalPatterns": [],
    "stallSeconds": 0,
    "idlePatterns": [],
}


class LastGoodTest(ApplyCase):
    def setUp(self) -> None:
        super().setUp()
        self.apply(self.good(), wait_step())

    def good(self) -> dict[str, Any]:
        return {"kind": "start", "launch": self.launch({"listen": 0})}

    def bad(self, **changes: Any) -> dict[str, Any]:
        secret = {"VLLM_API_KEY": "another-key"}
        act = {"exit_after": 0, "exit_code": 3}
        return {
            "kind": "start",
            "launch": self.launch(
                act, fingerprint="f2", configYaml="new\n", secretEnvironment=secret, **changes
            ),
        }

    def seen(self) -> Any:
        found = last_good.find(registry.load(self.server_id))
        return None if found is None else (found.launch["fingerprint"], found.secrets)

    def kept(self) -> bool:
        return last_good.folder(self.server_id).exists()

    def is_healthy(self) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health") as answer:
            return answer.status == 200

    def test_what_runs_and_was_ready_is_the_last_good_one_and_nothing_is_kept_beside_it(self) -> None:
        self.assertEqual((("f1", {"VLLM_API_KEY": "sesame"}), False), (self.seen(), self.kept()))

    def test_it_is_started_again_as_it_was_and_proves_itself_with_its_own_key(self) -> None:
        launched = records.read_json(self.state() / "launch.json")
        [_, _, wait] = self.apply(STOP, self.bad(), wait_step(apiKey="another-key"))
        self.assertEqual(("exited", 3), (wait["wait"]["outcome"], wait["wait"]["code"]))
        self.assertEqual(("f1", {"VLLM_API_KEY": "sesame"}), self.seen())
        modes = {
            entry.name: entry.stat().st_mode & 0o777 for entry in os.scandir(last_good.folder(self.server_id))
        }
        self.assertEqual({"launch.json": 0o600, "secrets.json": 0o600, "ready.json": 0o600}, modes)

        results = self.apply(STOP, RETURN)
        self.assertEqual(["stop", "start", "wait"], [result["kind"] for result in results])
        self.assertEqual(
            ("ready", 3), (results[2]["wait"]["outcome"], results[2]["wait"]["ready"]["generation"])
        )
        again = records.read_json(self.state() / "launch.json")
        changed = {"generation": 3, "managerWish": "process"}
        self.assertEqual({**launched, **changed}, again)
        self.assertEqual({"VLLM_API_KEY": "sesame"}, records.read_json(self.state() / "secrets.json"))
        self.assertEqual('port: "x"\n', (self.state() / "serve.yaml").read_text())
        self.assertEqual((True, False), (self.is_healthy(), self.kept()))

    def test_it_outlives_any_number_of_failures_and_goes_when_another_one_is_ready(self) -> None:
        for _ in range(2):
            self.apply(STOP, self.bad(), wait_step())
        self.assertEqual(("f1", {"VLLM_API_KEY": "sesame"}), self.seen())
        better = {"kind": "start", "launch": self.launch({"listen": 0}, fingerprint="f3")}
        self.apply(STOP, better, wait_step())
        self.assertEqual(("f3", False), (self.seen()[0], self.kept()))

    def test_a_return_that_fails_leaves_it_for_the_next_one(self) -> None:
        self.apply(STOP, self.bad(), wait_step())
        [_, _, wait] = self.apply(STOP, {**RETURN, "timeoutSeconds": 0})
        self.assertEqual("timeout", wait["wait"]["outcome"])
        self.assertEqual("f1", self.seen()[0])
        self.assertEqual("ready", self.apply(STOP, RETURN)[-1]["wait"]["outcome"])

    def test_what_the_failed_one_was_made_of_stays_for_its_next_try(self) -> None:
        model = self.state() / "checkpoint"
        model.mkdir(parents=True)
        step = {"kind": "overlay", "name": "bb", "checkpointPath": str(model), "files": {}, "record": {}}
        self.apply(step, STOP, self.bad(modelPath=str(paths.overlays_folder() / "bb")), wait_step())
        self.apply(STOP, RETURN)
        self.assertTrue((paths.overlays_folder() / "bb").is_dir())
        better = {"kind": "start", "launch": self.launch({"listen": 0}, fingerprint="f3")}
        self.apply(STOP, better, wait_step())
        self.assertFalse((paths.overlays_folder() / "bb").exists())

    def test_its_secrets_are_hidden_in_what_is_told_of_its_start(self) -> None:
        talking = {"listen": 0, "log": "key is sesame\n"}
        self.apply(STOP, {"kind": "start", "launch": self.launch(talking)}, wait_step())
        self.apply(STOP, self.bad(), wait_step(apiKey="another-key"))
        (self.folder / "events").write_bytes(b"")
        self.said.seek(0)
        self.apply(STOP, RETURN)
        told = (self.folder / "events").read_text()
        self.assertIn("key is ***", told)
        self.assertNotIn("sesame", told)

    def test_without_one_a_return_is_refused_and_nothing_is_stopped(self) -> None:
        (self.state() / "ready.json").unlink()
        self.assertIsNone(self.seen())
        self.assertEqual("CHANGED_MEANWHILE", self.refusal(STOP, RETURN).code)
        self.assertTrue(self.is_healthy())
