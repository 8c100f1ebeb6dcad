from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from agent import paths, run_record
from test.agent.acting import ApplyCase, kill, wait_step

STAND_IN = Path(__file__).resolve().parents[1] / "support" / "stand-in" / "lay_out.py"


class StandInCase(ApplyCase):
    """The process tree, log, ports and GPUs of a whole vLLM: two GPUs, EngineCore, workers, resource tracker."""

    def setUp(self) -> None:
        super().setUp()
        laid_out = subprocess.run(
            [sys.executable, str(STAND_IN), str(self.folder / "env")], check=True, capture_output=True
        )
        places = json.loads(laid_out.stdout)
        self._set_environment("PATH", f"{places['nvidiaSmiFolder']}:{os.environ['PATH']}")
        self.executable = Path(places["executable"])
        self.model = self.folder / "tiny"
        self.model.mkdir()
        config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 64}
        (self.model / "config.json").write_text(json.dumps(config))

    def whole(
        self, restart: tuple[int, float, float] = (0, 600, 0), drain_seconds: int = 5, **environment: str
    ) -> dict[str, Any]:
        """A start of it on two GPUs."""
        config = {
            "host": "127.0.0.1",
            "port": self.port,
            "served-model-name": ["tiny"],
            "tensor-parallel-size": 2,
            "load-format": "dummy",
            "shutdown-timeout": drain_seconds,
            "fingerprint-mode": "custom",
            "fingerprint-value": "f1",
        }
        return {
            "kind": "start",
            "launch": self.launch(
                {},
                restart,
                modelPath=str(self.model),
                configYaml="".join(
                    f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in config.items()
                ),
                environment={"STAND_IN_START_SECONDS": "1", **environment},
                gpus={"kind": "count", "count": 2, "prefer": []},
            ),
        }

    def commands(self) -> list[str]:
        return [member.command for member in self.members()]

    def assert_all_gone(self) -> None:
        self.assertEqual([], self.members())
        self.assertTrue(self.supervisor_gone())
        self.assertEqual([], self.run_json()["shm"])
        self.assertEqual([], os.listdir(paths.temp_folder(self.server_id)))


class StandInTest(StandInCase):
    def test_from_start_to_ready_to_a_clean_stop(self) -> None:
        started, waited = self.apply(self.whole(), wait_step(fingerprint="f1"))
        self.assertEqual("ready", waited["wait"]["outcome"], waited)
        self.assertEqual("completion", waited["wait"]["ready"]["probe"])
        self.assertEqual(str(self.model), waited["wait"]["ready"]["modelRoot"])
        tree = self.commands()
        stopped = self.stop(drainSeconds=5, killAfterSeconds=20, gpuFreeSeconds=5)
        self.assertEqual(tree, [one["command"] for one in stopped["ended"]])
        self.assertEqual((0, None), tuple(self.run_json()["exits"][-1][name] for name in ("code", "signal")))
        self.assertEqual(set(started["start"]["gpuUuids"]), set(stopped["gpuMemoryMib"]))
        self.assert_all_gone()

    def test_a_killed_api_server_is_started_again_once_its_orphans_are_gone(self) -> None:
        self.apply(self.whole(restart=(1, 600, 0)), wait_step())
        engine = [member for member in self.members() if member.command.startswith("VLLM::")]
        self.assertTrue(engine, self.commands())
        kill(run_record.living(self.run_json(), "leader"))
        self.until(
            lambda: self.run_json()["generation"] == 2 and run_record.living(self.run_json(), "leader")
        )
        self.assertFalse({member.pid for member in engine} & {member.pid for member in self.members()})
        self.assertEqual("ready", self.wait()["outcome"])
        self.stop(drainSeconds=5, killAfterSeconds=20, gpuFreeSeconds=5)
        self.assert_all_gone()

    def test_a_server_that_still_loads_is_ended_with_all_its_workers(self) -> None:
        self.apply(self.whole(STAND_IN_START_SECONDS="30"))
        self.until(lambda: any("VLLM::" in command for command in self.commands()) and self.run_json()["shm"])
        recorded = self.run_json()["shm"]
        self.stop(gpuFreeSeconds=5)
        # By the stop, or by Python's own tracker before it.
        self.assertEqual([], [name for name in recorded if os.path.exists(f"/dev/shm/{name}")])
        self.assert_all_gone()


if __name__ == "__main__":
    unittest.main()
