from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from agent import executable as command_environment
from agent import lock, paths, records, run_record
from agent.failure import AgentFailure
from test.agent.acting import ApplyCase, kill, wait_step

CONFIRM = {"kind": "confirm", "confirmed": True}


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
        forgotten = {"kind": "forget", "forget": {"freedBytes": 0, "kept": []}}
        self.assertEqual([forgotten], self.apply(stop, {"kind": "forget"})[1:])
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


class ServingTest(ApplyCase):
    """What a start needs is looked at before the running server is stopped for it."""

    def setUp(self) -> None:
        super().setUp()
        self.pid = self.apply({"kind": "start", "launch": self.launch({"listen": 0})}, wait_step())[0][
            "start"
        ]["pid"]

    def update(self, code: str, **changes: object) -> AgentFailure:
        """A change that is refused with this code, and costs the running server nothing."""
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 0}
        refused = self.refusal(stop, self.start_step(**changes))
        self.assertEqual(code, refused.code)
        self.assertEqual([self.pid], [member.pid for member in self.members()])
        self.assertEqual((1, "running"), (self.run_json()["generation"], self.run_json()["state"]))
        self.assertFalse((self.state() / "stop-intent").exists())
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health") as answer:
            self.assertEqual(200, answer.status)
        return refused

    def test_a_port_that_somebody_has(self) -> None:
        with socket.socket() as rival:
            rival.bind(("127.0.0.1", 0))
            rival.listen()
            listen = {"address": "127.0.0.1", "port": rival.getsockname()[1]}
            refused = self.update("PORT_IN_USE", listen=listen)
        self.assertIn(f"{listen['port']}: it is taken by pid {os.getpid()} of ", refused.summary)

    def test_a_port_that_a_starting_server_only_bound(self) -> None:
        with socket.socket() as rival:
            rival.bind(("127.0.0.1", 0))
            listen = {"address": "127.0.0.1", "port": rival.getsockname()[1]}
            self.assertIn("that cannot be seen", self.update("PORT_IN_USE", listen=listen).summary)

    def test_an_executable_that_is_not_there(self) -> None:
        self.update("VLLM_NOT_FOUND", executable="/nowhere/vllm")

    def test_gpus_that_nobody_has_here(self) -> None:
        self._set_environment("PATH", str(self.folder / "bin"))
        self._patch(command_environment, "login_environment", lambda: {"PATH": str(self.folder / "bin")})
        self.update("GPU_NOT_FOUND", gpus={"kind": "count", "count": 1, "prefer": []})

    def test_its_own_port_is_no_obstacle(self) -> None:
        stop = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 0}
        started = self.apply(stop, self.start_step())[1]["start"]
        self.assertEqual((2, [started["pid"]]), (started["generation"], [one.pid for one in self.members()]))


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
