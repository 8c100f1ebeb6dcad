"""apply: GPUs are chosen, handed over, and proven to be free again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any, Optional

from agent import paths, processes, records, run_record
from agent.failure import AgentFailure
from test.agent.acting import ELSEWHERE, ApplyCase, free_port, kill


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

    def test_what_the_host_lacks_is_told_before_anything_is_stopped_and_once(self) -> None:
        without = self.start_step()["launch"]
        lacking = {"CC": "/no/such/compiler", "CXX": "/no/such/compiler"}
        launch = {**without, "environment": {**without["environment"], **lacking}}
        self.apply({"kind": "start", "launch": launch})
        self.assertEqual([], self.notes(0))
        other = self.folder / "other-vllm"
        other.symlink_to(launch["executable"])
        launch |= {"gpus": {"kind": "count", "count": 1, "prefer": []}, "executable": str(other)}
        for wanted in (["no C compiler", "no C++ compiler"], []):
            before = len(self.events())
            stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1}
            self.apply(stop, {"kind": "start", "launch": launch})
            self.assertEqual(wanted, self.notes(before))
            first = next(event for event in self.events()[before:] if event["event"] in ("note", "step"))
            self.assertEqual("note" if wanted else "step", first["event"])

    def notes(self, first: int) -> list[str]:
        """Of compilers: what else this machine lacks is its own business."""
        told = [event["text"] for event in self.events()[first:] if event["event"] == "note"]
        return [
            text.partition(" on the host; needed by ")[0]
            for text in told
            if "compiler" in text.partition(" on")[0]
        ]

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

    def test_a_server_keeps_running_when_the_gpus_of_its_change_are_not_free(self) -> None:
        pid = self.apply(self.count(1))[0]["start"]["pid"]
        self.show([70000, 5], f"{pid}, GPU-0, 69000\n")
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1}
        # Its own counts as free for it, so that two are within its reach.
        self.show([70000, 5000], f"{pid}, GPU-0, 69000\n{os.getpid()}, GPU-1, 4995\n")
        refused = self.refusal(stop, self.count(2))
        self.assertEqual("GPUS_NOT_FREE", refused.code)
        self.assertRegex(
            refused.evidence or "", rf"^GPU 1: 5000 MiB used, .*\(pid {os.getpid()}, user \w+\)$"
        )
        self.assertEqual([pid], [member.pid for member in self.members()])

    def test_a_gpu_that_a_stranger_shares_with_it_is_not_free_for_its_next_start(self) -> None:
        pid = self.apply(self.count(1))[0]["start"]["pid"]
        self.show([70000, 70000], f"{pid}, GPU-0, 9000\n{os.getpid()}, GPU-0, 60000\n")
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1}
        self.assertEqual("GPUS_NOT_FREE", self.refusal(stop, self.count(1)).code)
        self.assertEqual([pid], [member.pid for member in self.members()])

    def test_gpus_that_another_server_has_reserved_are_not_given_twice(self) -> None:
        """It has not begun to use them, so nvidia-smi shows nothing of it."""
        other = f"other-{self.server_id[-8:]}"
        self.apply(self.count(1))
        mine, self.server_id = self.server_id, other
        try:
            self.assertEqual(["GPU-1"], self.apply(self.elsewhere(self.count(1)))[0]["start"]["gpuUuids"])
            self.stop()
            named = self.elsewhere(self.start_step(gpus={"kind": "list", "ids": [0]}))
            self.assertEqual(f"GPU 0: 5 MiB used, reserved by {mine}", self.refusal(named).evidence)
        finally:
            self._end_everything()
            self.server_id = mine

    def elsewhere(self, step: dict[str, Any]) -> dict[str, Any]:
        return {**step, "launch": {**step["launch"], "listen": {**ELSEWHERE, "port": free_port()}}}

    def test_a_holder_that_cannot_be_seen_is_told_so(self) -> None:
        self.apply(self.count(1))
        self.show([70000, 5], "999999999, GPU-0, 69000\n")
        with self.assertRaises(AgentFailure) as caught:
            self.stop(gpuFreeSeconds=0)
        self.assertEqual(
            "GPU-0: 69000 MiB, pid 999999999, which cannot be seen: gone by now, or of another container",
            caught.exception.evidence,
        )

    def test_memory_that_comes_back_within_the_bound_is_waited_for_and_told(self) -> None:
        self.apply(self.count(1))
        self.show([70000, 5], f"{os.getpid()}, GPU-0, 69000\n")
        back = threading.Timer(1, self.show, [[5, 5]])
        back.start()
        self.addCleanup(back.join)
        stopped = self.stop(gpuFreeSeconds=10)
        self.assertEqual({"GPU-0": 5}, stopped["gpuMemoryMib"])
        self.assertLess(stopped["seconds"], 5)
        waiting = [event["reason"] for event in self.events() if event["event"] == "waiting"]
        self.assertEqual(["GPU memory to be given back: GPU-0 has 70000 MiB in use, need 5"], waiting)

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
