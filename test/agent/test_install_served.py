"""From nothing to a server that answers: the agent as a client runs it builds the environment, and the stand-in vLLM in it serves."""

from __future__ import annotations

import json

from package_server import catalog

from agent import environments, paths, processes, run_record, stop_intent

from .acting import free_port, kill, wait_step
from .bed import OWNER, URN, run_agent
from .installing import InstallCase

ID = OWNER["serverId"]
NAME = "00000000000000aa"
NEXT = "00000000000000bb"


class InstallServedTest(InstallCase):
    def setUp(self):
        super().setUp()
        for version in ("0.31.0", "0.32.0"):
            self.index.add(catalog.stand_in_vllm(version))
        self.model = self.home / "tiny"
        self.model.mkdir()
        config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 64}
        (self.model / "config.json").write_text(json.dumps(config))
        self.port = free_port()
        self.seen = {"generation": 0, "leaderPid": None}
        self.addCleanup(self.end_everything)

    def end_everything(self):
        """For a test that failed half-way, too."""
        stop_intent.declare(ID)
        found = run_record.read(ID)
        living = [(member.pid, member.start_ticks) for member in processes.members_of(ID, found)]
        for identity in filter(None, [*living, run_record.living(found, "supervisor")]):
            kill(identity)

    def test_a_server_moves_to_a_new_version_and_leaves_nothing_behind(self):
        claim = {"kind": "claim", "owner": OWNER}
        done = self.apply(claim, self.install_step("0.31.0", NAME))
        self.assertEqual(done[-1]["install"]["version"], "0.31.0")
        self.serve(NAME)
        self.apply(self.install_step("0.32.0", NEXT))
        self.assertEqual(environments.names(), [NAME, NEXT])
        self.serve(NEXT)
        self.assertEqual(environments.names(), [NEXT])
        self.apply(self.stop_step(), {"kind": "forget"})
        self.assertEqual(environments.names(), [])
        self.assertFalse(paths.server_folder(ID).exists())

    def serve(self, name):
        stop = [self.stop_step()] if self.seen["generation"] else []
        done = self.apply(*stop, self.start_step(name), wait_step(apiKey=None))
        started, waited = done[-2]["start"], done[-1]["wait"]
        self.assertEqual(waited["outcome"], "ready")
        self.seen = {"generation": started["generation"], "leaderPid": started["pid"]}

    def install_step(self, version, name):
        return {"kind": "install", "environment": self.wish(version, name), "timeoutSeconds": 60}

    def start_step(self, name):
        config = {
            "host": "127.0.0.1",
            "port": self.port,
            "served-model-name": ["tiny"],
            "load-format": "dummy",
        }
        return {
            "kind": "start",
            "launch": {
                "fingerprint": name,
                "executable": str(environments.executable_path(name)),
                "executableWish": f"environments/{name}",
                "modelPath": str(self.model),
                "configYaml": json.dumps(config),
                "environment": {"STAND_IN_START_SECONDS": "0.5"},
                "secretEnvironment": {},
                "gpus": {"kind": "none"},
                "listen": {"address": "127.0.0.1", "port": self.port},
                "servedModelNames": ["tiny"],
                "restart": {"max": 0, "withinSeconds": 600, "delaySeconds": 0},
                "drainSeconds": 1,
            },
        }

    def stop_step(self):
        return {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1}

    def apply(self, *steps):
        request = {
            "protocol": 1,
            "op": "apply",
            "deadlineSeconds": 120,
            "serverId": ID,
            "urn": URN,
            "client": "ann@laptop (shop/prod)",
            "lockWaitSeconds": 0,
            "expect": self.seen,
            "steps": list(steps),
        }
        _code, events, stderr = run_agent(request)
        last = events[-1]
        self.assertEqual(last["event"], "result", (last, stderr))
        return last["result"]["steps"]
