from __future__ import annotations

import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Optional

from agent import lock, paths, processes, records, run_record
from agent.failure import AgentFailure
from test.agent.acting import ActingCase, kill, wait_step

ELSEWHERE = {"address": "127.0.0.1", "port": 1}
CONFIRM = {"kind": "confirm", "confirmed": True}


class ApplyCase(ActingCase):
    def refusal(self, *steps: dict[str, Any], **changes: Any) -> AgentFailure:
        with self.assertRaises(AgentFailure) as caught:
            self.apply(*steps, **changes)
        return caught.exception

    def start_step(self, **changes: Any) -> dict[str, Any]:
        return {"kind": "start", "launch": self.launch({}, **changes)}


class StepsTest(ApplyCase):
    def test_steps_are_told_as_they_begin_and_end_and_each_has_its_result(self) -> None:
        owner = {
            "serverId": self.server_id,
            "urn": "urn:chat",
            "project": "shop",
            "stack": "prod",
            "name": "chat",
            "createdBy": "ann@laptop",
            "createdAt": "2026-12-01T00:00:00.000Z",
            "confirmed": False,
        }
        start = {"kind": "start", "launch": self.launch({"listen": 0})}
        results = self.apply({"kind": "claim", "owner": owner}, start, wait_step(), CONFIRM)
        self.assertEqual(["claim", "start", "wait", "confirm"], [result["kind"] for result in results])
        self.assertEqual([{"kind": "claim"}, {"kind": "confirm"}], [results[0], results[3]])
        told = [(event["kind"], event["state"]) for event in self.events() if event["event"] == "step"]
        kinds = ("claim", "start", "wait", "confirm")
        self.assertEqual([(kind, state) for kind in kinds for state in ("begin", "end")], told)
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 0}
        self.assertEqual([{"kind": "forget"}], self.apply(stop, {"kind": "forget"})[1:])
        self.assertFalse(self.state().exists())

    def test_a_start_that_is_proven_leaves_no_overlay_of_an_earlier_declaration(self) -> None:
        model = self.state() / "checkpoint"
        model.mkdir(parents=True)
        for name in ("aa", "bb"):
            self.apply(
                {"kind": "overlay", "name": name, "checkpointPath": str(model), "files": {}, "record": {}}
            )
        served = str(paths.overlays_folder() / "bb")
        self.apply({"kind": "start", "launch": self.launch({"listen": 0}, modelPath=served)}, wait_step())
        self.assertEqual([".lock", "bb", "bb.json"], sorted(os.listdir(paths.overlays_folder())))

    def test_a_wait_that_does_not_end_ready_is_the_last_step(self) -> None:
        start = {"kind": "start", "launch": self.launch({"exit_after": 0})}
        results = self.apply(start, wait_step(), CONFIRM)
        self.assertEqual(["start", "wait"], [result["kind"] for result in results])

    def test_a_start_that_was_seen_to_fail_is_not_tried_again_behind_everybodys_back(self) -> None:
        """As if the client had died before it could stop what is left."""
        failing = self.launch({"exit_after": 0.2, "exit_code": 3}, restart=(5, 600, 1))
        self.apply({"kind": "start", "launch": failing}, wait_step())
        self.until(lambda: self.run_json()["state"] == "gave-up")
        self.assertEqual(
            [(1, 3)], [(entry["generation"], entry["code"]) for entry in self.run_json()["exits"]]
        )

    def test_the_next_policy_step_allows_restarts_again(self) -> None:
        self.apply(self.start_step(restart=(5, 600, 0)), wait_step(timeoutSeconds=0.2))
        self.apply({"kind": "policy", "restart": {"max": 5, "withinSeconds": 600, "delaySeconds": 0}})
        kill(run_record.living(self.run_json(), "leader"))
        self.until(lambda: self.run_json()["generation"] == 2)

    def test_a_plan_made_for_something_else_is_refused(self) -> None:
        refused = self.refusal(self.start_step(), expect={"generation": 3, "leaderPid": 77})
        self.assertEqual(("CHANGED_MEANWHILE", True), (refused.code, refused.retryable))
        self.assertIn("found start 0 with process None, need start 3 with process 77", refused.summary)

    def test_a_client_that_waited_while_the_server_was_forgotten_leaves_no_folder(self) -> None:
        self.refusal(self.start_step(), expect={"generation": 1, "leaderPid": 77})
        self.assertFalse(self.state().exists())
        records.write_json(self.state() / "launch.json", {})
        self.refusal(self.start_step(), expect={"generation": 1, "leaderPid": 77})
        self.assertEqual(["launch.json", "lock"], sorted(os.listdir(self.state())))


class LockTest(ApplyCase):
    def hold(self, path: Path) -> None:
        """Another process holds the lock, as another client's agent would."""
        script = (
            "import sys,test.agent\nfrom agent import lock\n"
            "with lock.held(sys.argv[1], 'bob@desk (shop/dev)', 0):\n    print('held', flush=True)\n    sys.stdin.read()\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(path)],
            cwd=Path(__file__).resolve().parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        self.assertEqual(b"held\n", child.stdout.readline())
        self.addCleanup(child.communicate)

    def test_a_server_that_somebody_works_on_is_refused_with_the_name(self) -> None:
        self.hold(self.state() / "lock")
        refused = self.refusal(self.start_step())
        self.assertEqual("HOST_LOCKED", refused.code)
        self.assertIn("bob@desk (shop/dev)", refused.summary)

    def test_while_another_server_of_the_host_starts_ours_does_not_but_may_be_stopped(self) -> None:
        self.start({})
        self.hold(paths.state_root() / "host.lock")
        self.stop()
        self.assertEqual("HOST_LOCKED", self.refusal(self.start_step()).code)

    def test_no_lock_outlives_the_request(self) -> None:
        self.start({})
        for path in (self.state() / "lock", paths.state_root() / "host.lock"):
            with lock.held(path, "me", 0):
                pass


class StartRefusedTest(ApplyCase):
    def test_a_server_that_lives_is_not_started_again(self) -> None:
        self.start({})
        self.assertEqual("CHANGED_MEANWHILE", self.refusal(self.start_step()).code)

    def test_a_port_in_use_names_its_owner(self) -> None:
        with socket.socket() as rival:
            rival.bind(("127.0.0.1", self.port))
            rival.listen()
            refused = self.refusal(self.start_step())
        self.assertEqual("PORT_IN_USE", refused.code)
        self.assertIn(f"taken by pid {os.getpid()} of ", refused.summary)
        self.assertEqual([], self.members())

    def test_an_executable_that_is_not_there(self) -> None:
        self.assertEqual("VLLM_NOT_FOUND", self.refusal(self.start_step(executable="/nowhere/vllm")).code)

    def test_an_executable_that_the_kernel_will_not_run(self) -> None:
        self.executable.write_text("#!/nowhere/python3\n")
        refused = self.refusal(self.start_step())
        self.assertEqual("VLLM_NOT_FOUND", refused.code)
        self.assertIn(f"Cannot run {self.executable}: No such file or directory", refused.summary)
        self.until(self.supervisor_gone)
        self.assertEqual(("gave-up", None), (self.run_json()["state"], self.run_json()["leader"]))
        self.assert_nothing_left()


class GpuTest(ApplyCase):
    def setUp(self) -> None:
        super().setUp()
        program = self.folder / "bin" / "nvidia-smi"
        program.write_text(
            '#!/bin/sh\ncase "$1" in *compute-apps*) cat "$0.apps";; *uuid,memory.used*) cat "$0.used";; *) cat "$0.gpus";; esac\n'
        )
        program.chmod(0o700)
        self._set_environment("PATH", f"{program.parent}:{os.environ['PATH']}")
        self.show([5, 5])

    def show(self, used: list[int], apps: str = "") -> None:
        place = self.folder / "bin"
        rows = [f"{index}, GPU-{index}, RTX, 97887, {mib}, 580.1, 12.0" for index, mib in enumerate(used)]
        (place / "nvidia-smi.gpus").write_text("\n".join(rows) + "\n")
        (place / "nvidia-smi.used").write_text(
            "".join(f"GPU-{index}, {mib}\n" for index, mib in enumerate(used))
        )
        (place / "nvidia-smi.apps").write_text(apps)

    def count(self, count: int) -> dict[str, Any]:
        return self.start_step(gpus={"kind": "count", "count": count, "prefer": []})

    def test_free_gpus_are_chosen_recorded_and_handed_to_the_server(self) -> None:
        self.show([70000, 5])
        started = self.apply(self.count(1))[0]["start"]
        self.assertEqual(["GPU-1"], started["gpuUuids"])
        launch = records.read_json(self.state() / "launch.json")
        self.assertEqual((["GPU-1"], {"GPU-1": 5}), (launch["gpuUuids"], launch["gpuBaselineMib"]))
        self.until(
            lambda: b"CUDA_VISIBLE_DEVICES=GPU-1\0" in Path(f"/proc/{started['pid']}/environ").read_bytes()
        )

    def test_a_vllm_that_ends_at_a_uuid_is_told_indexes(self) -> None:
        self.show([70000, 5, 5])
        step = self.start_step(gpus={"kind": "list", "ids": ["GPU-2", 1]}, gpuNames="index")
        started = self.apply(step)[0]["start"]
        self.assertEqual(["GPU-2", "GPU-1"], started["gpuUuids"])
        self.until(
            lambda: b"CUDA_VISIBLE_DEVICES=2,1\0" in Path(f"/proc/{started['pid']}/environ").read_bytes()
        )

    def test_gpus_that_are_not_free_name_their_holders(self) -> None:
        self.show([70000, 5], f"{os.getpid()}, GPU-0, 69000\n")
        refused = self.refusal(self.count(2))
        self.assertEqual("GPUS_NOT_FREE", refused.code)
        self.assertIn(f"pid {os.getpid()}", refused.evidence or "")

    def test_a_host_without_gpus_cannot_give_any(self) -> None:
        for name in ("", ".gpus", ".used", ".apps"):
            (self.folder / "bin" / f"nvidia-smi{name}").unlink()
        self.assertEqual("GPU_NOT_FOUND", self.refusal(self.count(1)).code)

    def test_a_stop_is_done_when_the_memory_is_back(self) -> None:
        self.apply(self.count(2))
        self.show([60, 5])
        self.assertEqual({"GPU-0": 60, "GPU-1": 5}, self.stop()["gpuMemoryMib"])

    def test_memory_that_stays_held_names_the_holder(self) -> None:
        self.apply(self.count(1))
        self.show([70000, 5], f"{os.getpid()}, GPU-0, 69000\n")
        with self.assertRaises(AgentFailure) as caught:
            self.stop(gpuFreeSeconds=0.3)
        self.assertEqual("GPU_MEMORY_HELD", caught.exception.code)
        self.assertIn("GPU-0 has 70000 MiB in use, need 5", caught.exception.summary)
        self.assertIn(f"GPU-0: 69000 MiB, pid {os.getpid()} of ", caught.exception.evidence or "")
        self.assertIn("(not ours)", caught.exception.evidence or "")

    def test_what_strangers_took_after_ours_had_died_does_not_hold_up_the_stop(self) -> None:
        self.apply(
            {"kind": "start", "launch": self.launch({"exit_after": 0}, gpus=self.count(1)["launch"]["gpus"])}
        )
        self.until(self.supervisor_gone)
        self.show([70000, 5], f"{os.getpid()}, GPU-0, 69998\n")
        self.assertEqual({"GPU-0": 70000}, self.stop()["gpuMemoryMib"])

    def test_what_another_server_of_ours_took_on_the_same_gpu_is_its_own(self) -> None:
        other = f"other-{self.server_id[-8:]}"
        records.write_json(paths.server_folder(other) / "launch.json", self.launch({}, listen=ELSEWHERE))
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            env={**os.environ, processes.MARKER: other},
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        assert child.stdin is not None
        self.addCleanup(child.stdin.close)
        self.until(lambda: processes.read_marker(child.pid) == other)
        self.apply(self.count(1))
        self.show([40000, 5], f"{child.pid}, GPU-0, 39990\n")
        self.assertEqual({"GPU-0": 40000}, self.stop(gpuFreeSeconds=0)["gpuMemoryMib"])

    def test_a_driver_that_does_not_answer_does_not_prove_that_the_memory_is_back(self) -> None:
        said = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
        self.apply(self.count(2))
        (self.folder / "bin" / "nvidia-smi").write_text(f'#!/bin/sh\necho "{said}"\nexit 9\n')
        self.assertEqual(("GPU_MEMORY_HELD", said), self.unknown("GPU-0, GPU-1"))
        # Its processes are gone all the same, and a stop that is repeated goes on from there.
        self.assert_nothing_left()

    def test_a_gpu_that_fell_off_the_bus_is_named(self) -> None:
        self.apply(self.count(2))
        (self.folder / "bin" / "nvidia-smi.used").write_text("GPU-0, 5\nGPU-1, [GPU is lost]\n")
        self.assertEqual(("GPU_MEMORY_HELD", "GPU (GPU-1) says [GPU is lost]"), self.unknown("GPU-1"))

    def unknown(self, uuids: str) -> tuple[str, Optional[str]]:
        with self.assertRaises(AgentFailure) as caught:
            self.stop(gpuFreeSeconds=0)
        self.assertIn(f"are free: {uuids} cannot be asked", caught.exception.summary)
        return caught.exception.code, caught.exception.evidence

    def test_gpus_that_the_host_has_no_more_hold_nothing(self) -> None:
        self.apply(self.count(2))
        (self.folder / "bin" / "nvidia-smi.used").write_text("GPU-0, 5\n")
        self.assertEqual({"GPU-0": 5}, self.stop(gpuFreeSeconds=0)["gpuMemoryMib"])

    def test_memory_in_use_since_another_boot_is_none_of_ours(self) -> None:
        self.apply(self.count(1))
        self.stop()
        records.write_json(self.state() / "run.json", {**self.run_json(), "bootId": "another"})
        self.show([900, 5])
        self.assertEqual({}, self.stop(gpuFreeSeconds=0)["gpuMemoryMib"])

    def test_a_broken_gpu_is_not_free_and_is_named_when_too_few_are_left(self) -> None:
        rows = "0, GPU-0, RTX, 97887, [Unknown Error], 580.1, 12.0\n1, GPU-1, RTX, 97887, 5, 580.1, 12.0\n"
        (self.folder / "bin" / "nvidia-smi.gpus").write_text(rows)
        refused = self.refusal(self.count(2))
        self.assertEqual(
            ("GPU_NOT_FOUND", "GPU 0 (GPU-0) says [Unknown Error]"), (refused.code, refused.evidence)
        )
        self.assertEqual(["GPU-1"], self.apply(self.count(1))[0]["start"]["gpuUuids"])

    def test_memory_that_nobody_shows_is_held_by_the_driver(self) -> None:
        self.apply(self.count(1))
        self.show([70000, 5])
        kill(run_record.living(self.run_json(), "leader"))
        with self.assertRaises(AgentFailure) as caught:
            self.stop(gpuFreeSeconds=0)
        self.assertIn("the driver itself", caught.exception.evidence or "")


if __name__ == "__main__":
    unittest.main()
