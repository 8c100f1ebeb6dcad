"""A server's records and a process that stands for it, as observe looks at them."""

import json

from agent import observe, processes

from .bed import OWNER, SUPERVISOR, URN, HostCase, identity

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


class ObservedCase(HostCase):
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
        self.run["supervisor"] = identity(self.spawn(SUPERVISOR).pid)

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
            "manager": "process",
            "managerWish": "auto",
            "startOnBoot": True,
            "logs": {"keep": 5, "maxBytes": 104857600},
            "drainSeconds": 10,
            "generation": 1,
            "gpuUuids": ["GPU-a"],
            "gpuBaselineMib": {"GPU-a": 4},
            "vllmVersion": "0.32.0",
        }

    def observe(self, **query):
        wanted = {"serverId": ID, "urn": URN, "listen": {"address": "127.0.0.1", "port": self.port or 1}}
        request = {"servers": [{**wanted, "secretEnvironment": {}, **query}]}
        return json.loads(json.dumps(observe.run(request)))["servers"][0]

    def status(self, **files):
        self.record(ID, owner=OWNER, launch=self.launch(), run=self.run, **files)
        return self.observe()["server"]["status"]
