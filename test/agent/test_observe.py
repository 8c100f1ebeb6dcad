"""observe: the status words, ports and secrets, told from real processes and sockets."""

import os
import signal

from agent import drift_seen, observe, paths, processes

from .bed import OWNER, SLEEPER, URN, identity, run_agent
from .observing import ID, READY, ObservedCase


class ObserveTest(ObservedCase):
    def test_nothing_known_is_absent(self):
        for server_id in (None, ID):
            seen = self.observe(serverId=server_id)
            self.assertEqual(
                (seen["server"], seen["executable"], seen["checkpoint"]), (observe.ABSENT, None, None)
            )

    def test_a_claim_alone_is_stopped_with_nothing_started(self):
        folder = self.record(ID, owner=OWNER)
        self.assertEqual(
            self.observe()["server"],
            {**observe.ABSENT, "status": "stopped", "owner": OWNER, "stateFolder": str(folder)},
        )

    def test_alive_and_not_yet_proven_is_starting(self):
        self.server(listens=False)
        self.supervised()
        self.assertEqual(self.status(ready={"generation": 2}), "starting")

    def test_proven_listening_and_healthy_is_ready(self):
        self.server()
        self.supervised()
        self.assertEqual(self.status(ready={"generation": 3}), "ready")

    def test_an_automatic_restart_keeps_the_proof_of_its_launch(self):
        self.server()
        self.supervised()
        for proven, status in ((0, "starting"), (1, "ready"), (2, "ready"), (4, "starting")):
            self.assertEqual(self.status(ready={"generation": proven}), status, proven)

    def test_an_automatic_restart_that_does_not_listen_yet_is_starting(self):
        self.server(listens=False)
        self.supervised()
        self.assertEqual(self.status(ready={"generation": 2}), "starting")
        self.assertEqual(self.status(ready={"generation": 3}), "unresponsive")

    def test_an_automatic_restart_that_is_ill_is_unresponsive(self):
        self.server(health=503)
        self.supervised()
        self.assertEqual(self.status(ready={"generation": 2}), "unresponsive")

    def test_a_proof_of_an_earlier_launch_is_not_told(self):
        self.record(ID, owner=OWNER, launch={**self.launch(), "generation": 3}, run=self.run)
        for proven, told in ((2, None), (3, {**READY, "generation": 3})):
            self.record(ID, ready={**READY, "generation": proven})
            self.assertEqual(self.observe()["server"]["ready"], told)

    def test_the_restart_policy_is_told_as_it_stands(self):
        standing = {"max": 0, "withinSeconds": 600, "delaySeconds": 1}
        self.record(ID, launch=self.launch(), run=self.run, policy=standing)
        self.assertEqual(self.observe()["server"]["launch"]["restart"], standing)

    def test_a_launch_of_an_earlier_version_was_the_supervisors(self):
        new = ("manager", "managerWish", "startOnBoot", "logs")
        launch = {name: value for name, value in self.launch().items() if name not in new}
        self.record(ID, launch=launch, run=self.run)
        seen = self.observe()["server"]
        told = ("process", "auto", None, None)
        self.assertEqual((seen["manager"], *(seen["launch"][name] for name in new)), ("process", *told))

    def test_a_health_check_that_fails_is_unresponsive(self):
        self.server(health=503)
        self.supervised()
        self.assertEqual(self.status(ready={"generation": 3}), "unresponsive")

    def test_somebody_elses_answer_on_the_port_is_not_ours(self):
        stranger = self.server()
        port = self.port
        self.server(listens=False)
        self.port = port
        self.supervised()
        self.assertEqual(self.status(ready={"generation": 3}), "unresponsive")
        seen = self.observe()["port"]
        self.assertEqual((seen["free"], seen["pid"], seen["serverId"]), (False, stranger.pid, None))

    def test_what_the_supervisor_says_while_it_lives(self):
        self.supervised()
        words = {
            "restarting": "restarting",
            "gave-up": "crashed",
            "stopped": "stopped",
            "running": "restarting",
        }
        for state, status in words.items():
            self.run["state"] = state
            self.assertEqual(self.status(), status)

    def test_alive_without_its_supervisor_is_orphaned(self):
        self.server()
        self.assertEqual(self.status(ready={"generation": 3}), "orphaned")

    def test_living_processes_give_away_a_server_whose_records_are_lost(self):
        self.spawn(SLEEPER, **{processes.MARKER: ID})
        self.assertEqual(self.observe()["server"]["status"], "orphaned")

    def test_nothing_alive_tells_stopped_crashed_and_rebooted_apart(self):
        self.assertEqual(self.status(), "crashed")
        for state, status in (("stopped", "stopped"), ("gave-up", "crashed"), ("running", "rebooted")):
            self.run.update(state=state, bootId="0" * 36)
            self.assertEqual(self.status(), status)
        (paths.server_folder(ID) / "stop-intent").write_text("")
        self.assertEqual(self.status(), "stopped")

    def test_everything_of_a_running_server_is_told(self):
        child = self.server()
        self.supervised()
        model = self.home / "model"
        model.mkdir()
        (model / "config.json").write_text("{}")
        ready = {**READY, "generation": 3}
        self.run["exits"] = [{"generation": 2, "code": None, "signal": 9, "at": "t"}]
        folder = self.record(
            ID, owner=OWNER, launch=self.launch(), run=self.run, ready=ready, secrets={"VLLM_API_KEY": "k"}
        )
        (folder / "serve.yaml").write_text(self.launch()["configYaml"])
        seen = self.observe(secretEnvironment={"VLLM_API_KEY": "k"})
        leader = identity(child.pid)
        process = seen["server"].pop("processes")
        self.assertEqual(
            [(one["pid"], one["sessionId"], one["uid"]) for one in process],
            [(child.pid, child.pid, os.getuid())],
        )
        kept = ("fingerprint", "executable", "modelPath", "listen", "servedModelNames", "restart", "gpuUuids")
        kept += ("manager", "managerWish", "startOnBoot", "logs", "vllmVersion")
        self.assertEqual(
            seen["server"],
            {
                "status": "ready",
                "owner": OWNER,
                "generation": 3,
                "launch": {name: self.launch()[name] for name in kept},
                "lastGood": {"fingerprint": "f1", "vllmVersion": "0.32.0"},
                "manager": "process",
                "unit": None,
                "leader": leader,
                "startedAt": self.run["startedAt"],
                "ready": ready,
                "lastExit": self.run["exits"][0],
                "crashes": [],
                "illness": None,
                "restarts": 2,
                "secretsMatch": True,
                "modelPathIntact": True,
                "differences": drift_seen.NONE,
                "stateFolder": str(folder),
                "logPath": str(folder / "logs" / "3.log"),
            },
        )
        self.assertEqual((seen["port"]["pid"], seen["port"]["serverId"]), (child.pid, ID))
        (model / "weights").symlink_to("nowhere")
        other = self.observe(secretEnvironment={"VLLM_API_KEY": "K"})["server"]
        self.assertEqual((other["secretsMatch"], other["modelPathIntact"]), (False, False))

    def test_a_server_is_found_by_its_urn_confirmed_ones_first(self):
        for server_id, created, confirmed in (("a-1", "1", False), ("b-2", "2", True), ("c-3", "3", False)):
            owner = {**OWNER, "serverId": server_id, "createdAt": created, "confirmed": confirmed}
            self.record(server_id, owner=owner)
        self.assertEqual(self.observe(serverId=None)["server"]["owner"]["serverId"], "b-2")
        self.assertEqual(self.observe(serverId="d-4")["server"]["status"], "absent")

    def test_a_starting_server_has_its_port_reserved_before_it_listens(self):
        child = self.server(listens=False)
        self.supervised()
        self.status()
        for address, serves in (("127.0.0.1", ID), ("0.0.0.0", ID)):
            seen = self.observe(listen={"address": address, "port": self.port})["port"]
            self.assertEqual((seen["pid"], seen["serverId"]), (child.pid, serves))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        self.run["state"] = "restarting"
        self.status()
        self.assertEqual(
            self.observe()["port"],
            {"free": False, "pid": None, "user": None, "command": None, "serverId": ID},
        )

    def test_a_stranger_that_only_bound_the_port_is_seen_without_a_name(self):
        self.server(listens=False)
        unknown = {"free": False, "pid": None, "user": None, "command": None, "serverId": None}
        self.assertEqual(self.observe()["port"], unknown)

    def test_the_whole_way_through_the_agent_tells_the_host(self):
        query = {
            "serverId": None,
            "urn": URN,
            "listen": {"address": "127.0.0.1", "port": 1},
            "secretEnvironment": {},
        }
        request = {
            "op": "observe",
            "protocol": 1,
            "deadlineSeconds": 30,
            "servers": [{**query, "executable": None}],
        }
        code, events, stderr = run_agent(request)
        self.assertEqual((code, stderr), (0, ""))
        host = events[-1]["result"]["host"]
        self.assertEqual(
            (host["home"], host["stateRoot"], host["bootId"], host["uid"]),
            (str(self.home), str(self.state), processes.kernel_boot_id(), os.getuid()),
        )
        self.assertEqual(events[-1]["result"]["servers"][0]["executable"]["found"], False)
        self.assertFalse(self.state.exists())
