from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import unittest
import urllib.request
from typing import Any, Optional

from agent import accounts, ending, processes, run_record, stop
from test.agent.acting import kill, wait_step
from test.agent.test_stand_in import StandInCase


class OrphanTest(StandInCase):
    """vLLM's children outlive what killed their parent. Each of these was seen of the real one."""

    def named(self, part: str) -> list[processes.Process]:
        return [member for member in self.members() if part in member.command]

    def kill_recorded(self, role: str) -> None:
        identity = run_record.living(self.run_json(), role)
        assert identity is not None, role
        kill(identity)

    def test_engine_and_workers_of_a_killed_api_server_are_found_and_asked_to_clean_up(self) -> None:
        self.apply(self.whole(), wait_step())
        self.kill_recorded("supervisor")
        self.kill_recorded("leader")
        left = {member.pid for member in self.members()}
        self.assertEqual((1, 2), (len(self.named("VLLM::EngineCore")), len(self.named("VLLM::Worker"))))
        stopped = self.stop(gpuFreeSeconds=5)
        self.assertEqual(left, {one["pid"] for one in stopped["ended"]})
        # Engine and resource tracker: what has no parent among them.
        self.assertEqual((2, []), (stopped["orphans"], stopped["removedShm"]))
        self.assertIn("[shutdown] EngineCore: trigger received signal=SIGTERM", self.log())
        self.assert_all_gone()

    def test_workers_that_load_on_after_api_server_and_engine_were_killed(self) -> None:
        """They go to the supervisor where it lives, and to init where it does not."""
        for is_supervised in (True, False):
            with self.subTest(is_supervised=is_supervised):
                self._patch(ending, "ORPHAN_GRACE_SECONDS", 0.5)
                self.apply(self.whole(STAND_IN_HOLD=str(self.folder)))
                self.until(lambda: len(self.named("VLLM::Worker")) == 2 and self.run_json()["shm"])
                workers = self.named("VLLM::Worker")
                engine = self.named("VLLM::EngineCore")[0]
                supervisor = run_record.living(self.run_json(), "supervisor") or (0, 0)
                if is_supervised:
                    os.kill(supervisor[0], signal.SIGSTOP)  # else it is quicker than this test
                else:
                    kill(supervisor)
                self.kill_recorded("leader")
                kill((engine.pid, engine.start_ticks))
                parent = supervisor[0] if is_supervised else self.parent_of_orphans()
                self.until(lambda: _parents(workers) == {parent})  # noqa: B023
                if is_supervised:
                    os.kill(supervisor[0], signal.SIGCONT)
                self.stop(gpuFreeSeconds=5)
                alive = [one for one in workers if processes.is_same(one.pid, one.start_ticks)]
                self.assertEqual([], alive)
                self.assert_all_gone()

    def parent_of_orphans(self) -> int:
        """Init, or whoever stands in for it where these tests run."""
        told = subprocess.run(
            ["sh", "-c", "(sleep 0.2; cut -d ' ' -f 4 /proc/self/stat) &"], capture_output=True, text=True
        )
        return int(told.stdout)


def _parents(children: list[processes.Process]) -> set[int]:
    found = (processes.read_process(child.pid) for child in children)
    return {process.ppid for process in found if process is not None}


class SwallowedSignalTest(StandInCase):
    def test_a_server_that_starts_swallows_one_sigterm_and_is_ended_as_a_whole_all_the_same(self) -> None:
        self.apply(self.whole(STAND_IN_HOLD=str(self.folder)))
        self.until(lambda: "Loading model from scratch" in self.log())
        leader = run_record.living(self.run_json(), "leader")
        assert leader is not None
        os.kill(leader[0], signal.SIGTERM)
        whole = {member.pid for member in self.members()}
        time.sleep(1)
        self.assertEqual(whole, {member.pid for member in self.members()})
        stopped = self.stop(killAfterSeconds=60, gpuFreeSeconds=5)
        self.assertEqual(whole, {one["pid"] for one in stopped["ended"]})
        self.assertLess(stopped["seconds"], 10)
        self.assert_all_gone()

    def test_a_drain_that_has_expired_waits_for_its_client_for_ever_and_is_ended_by_our_own_deadline(
        self,
    ) -> None:
        self._patch(stop, "_TEARDOWN_SECONDS", 2)
        self.apply(self.whole(drain_seconds=1, STAND_IN_TOKEN_SECONDS="0.5"), wait_step())
        leader = run_record.living(self.run_json(), "leader")
        assert leader is not None
        client = self.long_request()
        self.until(lambda: self.is_running_a_request())
        for _ in range(3):
            os.kill(leader[0], signal.SIGTERM)
            time.sleep(0.2)
        self.until(lambda: "Waiting for connections to close." in self.log())
        self.assertTrue(processes.is_same(*leader))
        stopped = self.stop(drainSeconds=1, killAfterSeconds=60, gpuFreeSeconds=5)
        self.assertTrue(3 <= stopped["seconds"] < 12, stopped)
        self.assertEqual(9, self.run_json()["exits"][-1]["signal"])
        self.assertEqual(b"", _rest(client))
        self.assert_all_gone()

    def long_request(self) -> socket.socket:
        body = json.dumps({"model": "tiny", "prompt": "hi", "max_tokens": 400, "stream": True})
        client = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(client.close)
        head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sesame\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall((head + body).encode())
        return client

    def is_running_a_request(self) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
            return b"vllm:num_requests_running" in answer.read()


def _rest(client: socket.socket) -> Optional[bytes]:
    """What comes after the last that was read; None while the connection stays open."""
    client.settimeout(5)
    try:
        while client.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return None
    return b""


class StaleServerTest(StandInCase):
    def test_a_server_started_by_hand_on_our_port_is_not_ours_though_it_answers_as_ours_would(self) -> None:
        self.apply(self.whole(), wait_step(fingerprint="f1"))
        by_hand = self.same_again_by_hand(after=lambda: self.stop(gpuFreeSeconds=5))
        refused = self.refusal(self.whole())
        self.assertEqual("PORT_IN_USE", refused.code)
        self.assertRegex(
            refused.summary,
            rf"^Cannot listen on 127.0.0.1:{self.port}: it is taken by pid {by_hand.pid} of "
            rf"{accounts.name_of(os.getuid())}: .*/vllm serve ",
        )
        # Nor is it stopped for us.
        self.assertEqual([], self.stop(gpuFreeSeconds=5)["ended"])
        self.assertIsNone(by_hand.poll())

    def test_one_that_took_our_port_while_ours_was_starting_is_the_winner_and_named(self) -> None:
        self.apply(self.whole(STAND_IN_FAIL="port-never-listens", STAND_IN_START_SECONDS="3"))
        by_hand = self.same_again_by_hand(after=self.has_bound)
        waited = self.wait(fingerprint="f1")
        self.assertEqual(
            ("port-lost", by_hand.pid, accounts.name_of(os.getuid())),
            (waited["outcome"], waited.get("winnerPid"), waited.get("winnerUser")),
        )
        self.stop(gpuFreeSeconds=5)
        self.assertIsNone(by_hand.poll())

    def test_its_answers_prove_nothing_while_ours_still_loads(self) -> None:
        self.apply(self.whole(STAND_IN_HOLD=str(self.folder)))
        by_hand = self.same_again_by_hand(after=self.has_bound)
        self.assertEqual("timeout", self.wait(fingerprint="f1", timeoutSeconds=3)["outcome"])
        self.stop(gpuFreeSeconds=5)
        self.assertIsNone(by_hand.poll())

    def has_bound(self) -> None:
        """Ours has its port, though it does not listen yet: it would end at once were somebody quicker."""
        self.until(lambda: "Resolved architecture" in self.log())

    def same_again_by_hand(self, after: Any) -> subprocess.Popen[bytes]:
        """The very files of our start, and nothing in its environment that marks it as ours."""
        text = (self.state() / "serve.yaml").read_text()
        after()
        config = self.folder / "by-hand.yaml"
        config.write_text(text)
        environment = {
            "PATH": os.environ["PATH"],
            "VLLM_API_KEY": "sesame",
            "STAND_IN_START_SECONDS": "0.2",
            "TMPDIR": str(self.folder),
        }
        child = subprocess.Popen(
            [str(self.executable), "serve", str(self.model), "--config", str(config)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.addCleanup(self._end_by_hand, child)
        self.until(self.is_answered)
        return child

    def _end_by_hand(self, child: subprocess.Popen[bytes]) -> None:
        """Asked, and not killed, it takes its shared memory away itself; its resource tracker goes last."""
        child.terminate()
        child.wait()
        self.until(lambda: all(one.session_id != child.pid for one in processes.all_processes()))

    def is_answered(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


if __name__ == "__main__":
    unittest.main()
