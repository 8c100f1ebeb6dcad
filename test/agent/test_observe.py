"""observe: the status words, ports and secrets, told from real processes and sockets."""

import json
import os
import signal

from agent import observe, paths, processes

from .bed import OWNER, SLEEPER, URN, HostCase, identity, run_agent

ID = OWNER["serverId"]

# A stand-in for vLLM's API server: it binds, says "up" with its port, and listens once it is told to.
SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(sys.argv[1]) if self.path == "/health" else 404)
        self.end_headers()
    def log_message(self, *arguments): pass
sys.argv = ["-", "%d"]
server = http.server.HTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
server.allow_reuse_address = True
server.server_bind()
print("up")
print(server.server_port)
if sys.stdin.readline():
    server.server_activate()
    print("listening")
    server.serve_forever()
"""

READY = {
    "readyAt": "t",
    "startSeconds": 1.5,
    "modelNames": ["m"],
    "modelRoot": None,
    "maxModelLen": 128,
    "cacheConfig": {},
    "probe": "completion",
}


class ObserveTest(HostCase):
    def setUp(self):
        super().setUp()
        self.port = 0
        self.run = {
            "bootId": processes.boot_id(),
            "supervisor": {"pid": 1, "startTicks": 1},
            "leader": None,
            "sessions": [],
            "generation": 3,
            "startedAt": "2026-12-01T10:00:00.000Z",
            "state": "running",
            "nextStartAt": None,
            "exits": [],
        }

    def server(self, health=200, listens=True):
        child = self.spawn(SERVER % health)
        self.port = int(child.stdout.readline())
        if listens:
            child.stdin.write(b"go\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), b"listening\n")
        seen = identity(child.pid)
        self.run["leader"] = seen
        self.run["sessions"] = [{"sid": child.pid, "startTicks": seen["startTicks"], "generation": 3}]
        return child

    def supervised(self):
        self.run["supervisor"] = identity(self.spawn(SLEEPER).pid)

    def launch(self):
        return {
            "fingerprint": "f1",
            "executable": "/v/bin/vllm",
            "modelPath": str(self.home / "model"),
            "configYaml": "a: 1",
            "environment": {"A": "b"},
            "gpus": {"kind": "none"},
            "listen": {"address": "127.0.0.1", "port": self.port},
            "servedModelNames": ["m"],
            "restart": {"max": 5, "withinSeconds": 600, "delaySeconds": 1},
            "drainSeconds": 10,
            "generation": 1,
            "gpuUuids": ["GPU-a"],
            "gpuBaselineMib": {"GPU-a": 4},
        }

    def observe(self, **query):
        wanted = {"serverId": ID, "urn": URN, "listen": {"address": "127.0.0.1", "port": self.port or 1}}
        request = {"servers": [{**wanted, "secretEnvironment": {}, **query}]}
        return json.loads(json.dumps(observe.run(request)))["servers"][0]

    def status(self, **files):
        self.record(ID, owner=OWNER, launch=self.launch(), run=self.run, **files)
        return self.observe()["server"]["status"]

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
        seen = self.observe(secretEnvironment={"VLLM_API_KEY": "k"})
        leader = identity(child.pid)
        process = seen["server"].pop("processes")
        self.assertEqual(
            [(one["pid"], one["sessionId"], one["uid"]) for one in process],
            [(child.pid, child.pid, os.getuid())],
        )
        kept = ("fingerprint", "executable", "modelPath", "listen", "servedModelNames", "restart", "gpuUuids")
        self.assertEqual(
            seen["server"],
            {
                "status": "ready",
                "owner": OWNER,
                "generation": 3,
                "launch": {name: self.launch()[name] for name in kept},
                "leader": leader,
                "startedAt": self.run["startedAt"],
                "ready": ready,
                "lastExit": self.run["exits"][0],
                "restarts": 2,
                "secretsMatch": True,
                "modelPathIntact": True,
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

    def test_damaged_records_do_not_break_the_observation(self):
        folder = self.record(ID, owner={"serverId": 1}, launch=["x"], run="y", ready=7)
        (self.state / "Bad Name").mkdir()
        (self.state / "Bad Name" / "owner.json").write_text("{}")
        self.assertEqual(self.observe()["server"]["status"], "absent")
        (folder / "run.json").write_text("{")
        self.assertEqual(self.observe(serverId=None)["server"], observe.ABSENT)

    def test_a_server_that_somebody_began_to_stop_is_not_ready_though_it_still_answers(self):
        self.server()
        self.supervised()
        self.assertEqual(self.status(ready={**READY, "generation": 3}), "ready")
        (self.state / ID / "stop-intent").write_text("{}")
        self.assertEqual(self.observe()["server"]["status"], "stopped")

    def test_a_record_that_is_json_and_makes_no_sense_counts_as_missing(self):
        self.server()
        self.supervised()
        whole = {"launch": self.launch(), "run": self.run, "ready": {**READY, "generation": 3}}
        self.assertEqual(self.status(ready=whole["ready"]), "ready")
        for name, field, wrong, status in (
            ("run", "generation", "x", "stopped"),
            ("run", "leader", {"pid": "1"}, "stopped"),
            ("run", "sessions", [7], "stopped"),
            ("run", "exits", "none", "stopped"),
            ("run", "shm", {"a": 1}, "stopped"),
            ("launch", "listen", {"port": "80"}, "starting"),
            ("launch", "gpuUuids", 3, "starting"),
            ("launch", "restart", {"max": None}, "starting"),
            ("ready", "cacheConfig", ["x"], "starting"),
        ):
            self.record(ID, owner=OWNER, **{**whole, name: {**whole[name], field: wrong}})
            self.assertEqual(self.observe()["server"]["status"], status, (name, field))
        cut = {name: value for name, value in self.launch().items() if name != "executable"}
        self.record(ID, **{**whole, "launch": cut, "ready": {"generation": 3}})
        seen = self.observe()["server"]
        self.assertEqual((seen["launch"], seen["ready"]), (None, None))

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
