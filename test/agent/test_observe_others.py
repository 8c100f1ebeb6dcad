"""observe for a refresh: the servers of the stack that nobody asked for, and what they were started with."""

import hmac
import json
import threading

from agent import executable, observe, observed_others, status

from .bed import OWNER, URN, identity
from .observing import ID, READY, ObservedCase

SALT = "5a17"
OTHER = "code-11111111"
SECRETS = {"VLLM_API_KEY": "k\u00e9y"}


def owner(server_id, stack="prod", project="shop"):
    urn = f"urn:pulumi:{stack}::{project}::pulumi-nodejs:dynamic/vllm:VllmServer::{server_id[:-9]}"
    return {**OWNER, "serverId": server_id, "stack": stack, "project": project, "urn": urn}


# Says when it is asked for its health, and answers once it is told to.
SLOW_SERVER = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print("up")
print(listener.getsockname()[1])
while True:
    connection = listener.accept()[0]
    connection.recv(65536)
    print("asked")
    sys.stdin.readline()
    connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n")
    connection.close()
"""


class ObserveOthersTest(ObservedCase):
    def setUp(self):
        super().setUp()
        self.port = 1
        self.record(ID, owner=OWNER)

    def others(self, **query):
        wanted = {"serverId": ID, "urn": URN, "listen": {"address": "127.0.0.1", "port": 2}}
        request = {"servers": [{**wanted, "secretEnvironment": {}, **query}], "others": {"salt": SALT}}
        return json.loads(json.dumps(observe.run(request)))["others"]

    def started(self, server_id=OTHER, launch=None, **owned):
        folder = self.record(
            server_id,
            owner=owner(server_id, **owned),
            launch={**self.launch(), **(launch or {})},
            run=self.run,
            secrets=SECRETS,
        )
        return folder

    def ids(self):
        return [one["serverId"] for one in self.others()["servers"]]

    def test_they_are_told_only_where_it_is_wished(self):
        query = {"serverId": ID, "urn": URN, "listen": {"address": "127.0.0.1", "port": 2}}
        self.assertNotIn("others", observe.run({"servers": [{**query, "secretEnvironment": {}}]}))
        self.assertEqual(
            self.others(),
            {
                "servers": [],
                "executables": [],
                "checkpoints": [],
                "ports": [{"address": "127.0.0.1", "port": 2, "seen": {"free": True}}],
            },
        )

    def test_a_server_is_told_as_if_it_had_been_asked_for_and_its_secrets_as_a_hash(self):
        self.started()
        asked = self.observe(serverId=OTHER, secretEnvironment=SECRETS)["server"]
        text = json.dumps(SECRETS).encode()
        hashes = {"VLLM_API_KEY": hmac.new(bytes.fromhex(SALT), text, "sha256").hexdigest()}
        self.assertEqual(
            self.others()["servers"], [{"serverId": OTHER, "secretHashes": hashes, "server": asked}]
        )
        self.assertNotIn("k\u00e9y", json.dumps(self.others(), ensure_ascii=False))

    def test_one_that_was_never_started_has_no_secrets(self):
        self.record(OTHER, owner=owner(OTHER))
        [told] = self.others()["servers"]
        self.assertEqual((told["secretHashes"], told["server"]["status"]), (None, "stopped"))

    def test_servers_of_other_stacks_and_projects_and_of_nobody_are_left_to_themselves(self):
        self.started()
        self.started("else-22222222", stack="dev")
        self.started("else-33333333", project="lab")
        self.record("else-44444444", launch=self.launch(), run=self.run)
        self.assertEqual(self.ids(), [OTHER])

    def test_what_they_were_started_with_is_looked_at_too(self):
        vllm = self.program("vllm", "#!/bin/sh\nexit 1\n")
        checkpoint = self.home / "model"
        checkpoint.mkdir()
        (checkpoint / "config.json").write_text("{}")
        self.started(launch={"executable": str(vllm), "executableWish": "~/bin/vllm"})
        told = self.others()
        found = {"found": True, "path": str(vllm), "version": None}
        wishes = {one["wish"]: one["seen"] for one in told["executables"]}
        self.assertEqual(wishes, {"~/bin/vllm": found, str(vllm): found})
        [seen] = told["checkpoints"]
        self.assertEqual((seen["path"], seen["files"]["config.json"]), (str(checkpoint), "{}"))
        self.assertEqual([one["port"] for one in told["ports"]], [2, self.port])

    def test_the_checkpoint_of_an_overlay_is_the_one_it_was_made_from(self):
        overlays = self.state / "overlays"
        (overlays / "0a1b").mkdir(parents=True)
        (overlays / "0a1b.json").write_text(json.dumps({"checkpoint": "/models/kimi"}))
        self.started(launch={"modelPath": str(overlays / "0a1b")})
        self.started("more-22222222", launch={"modelPath": str(overlays / "2c3d")})
        paths = [one["path"] for one in self.others()["checkpoints"]]
        self.assertEqual(paths, ["/models/kimi", str(overlays / "2c3d")])

    def test_a_launch_of_an_earlier_version_may_have_wished_for_the_vllm_of_the_login(self):
        vllm = self.program("vllm", "#!/bin/sh\nexit 1\n")
        self.started(launch={"executable": str(vllm)})
        executable._login_environment.cache_clear()
        self.assertEqual([one["wish"] for one in self.others()["executables"]], [None, str(vllm)])

    def test_one_that_cannot_be_looked_at_is_left_out_and_costs_nobody_else_the_answer(self):
        self.started()
        broken = self.started("more-22222222")
        (broken / "secrets.json").unlink()
        (broken / "secrets.json").mkdir()
        self.assertEqual(self.ids(), [OTHER])
        with self.assertRaises(IsADirectoryError):
            self.observe(serverId="more-22222222")

    def test_more_than_fits_into_an_answer_is_left_out(self):
        self.started()
        self.started("more-22222222")
        room = observed_others.LARGEST_BYTES
        self.addCleanup(setattr, observed_others, "LARGEST_BYTES", room)
        [one, _] = self.others()["servers"]
        observed_others.LARGEST_BYTES = len(json.dumps(one["server"]))
        self.assertEqual(self.ids(), [OTHER])

    def test_servers_that_take_their_time_are_waited_for_at_once(self):
        self.addCleanup(setattr, status, "HEALTH_SECONDS", status.HEALTH_SECONDS)
        status.HEALTH_SECONDS = 20.0
        self.supervised()
        children = [self.slow_server(f"slow-{index}{index}{index}{index}0000") for index in range(3)]
        told = []
        look = threading.Thread(target=lambda: told.extend(self.others()["servers"]))
        look.start()
        # All of them are asked before one is answered.
        for child in children:
            self.assertEqual(child.stdout.readline(), b"asked\n")
        for child in children:
            child.stdin.write(b"go\n")
            child.stdin.flush()
        look.join()
        self.assertEqual([one["server"]["status"] for one in told], ["ready"] * 3)

    def slow_server(self, server_id):
        child = self.spawn(SLOW_SERVER)
        self.port = int(child.stdout.readline())
        leader = identity(child.pid)
        session = {"sid": child.pid, "startTicks": leader["startTicks"], "generation": 3}
        self.run = {**self.run, "leader": leader, "sessions": [session]}
        folder = self.started(server_id)
        ready = {**READY, "generation": 3, "probe": "health"}
        (folder / "ready.json").write_text(json.dumps(ready))
        return child
