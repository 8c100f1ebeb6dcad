"""A state root of its own and an acting vllm for each test; afterwards nothing of it may be left on the host."""

from __future__ import annotations

import errno
import json
import os
import random
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, Optional

from agent import apply, events, host_turn, paths, processes, records, run_record
from agent.failure import AgentFailure

SCRIPT = Path(__file__).with_name("acting_vllm.py")


class ActingCase(unittest.TestCase):
    """`self.id` names the server; `act` is what its vllm does."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pvllm-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self._set_environment("HOME", str(self.folder))
        self._set_environment(host_turn.SCOPE_VARIABLE, str(self.folder))
        self.said = (self.folder / "events").open("w+b")
        self.addCleanup(self.said.close)
        self._patch(events, "STDOUT", self.said.fileno())
        self.server_id = f"chat-{secrets.token_hex(4)}"
        self.shm = f"psm_{secrets.token_hex(4)}"
        self.executable = self.folder / "bin" / "vllm"
        self.executable.parent.mkdir()
        self.executable.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{SCRIPT.read_text()}")
        self.executable.chmod(0o700)
        # What this host's kernel says is no matter of a test.
        for reader in ("dmesg", "journalctl"):
            path = self.executable.parent / reader
            path.write_text("#!/bin/sh\nexit 1\n")
            path.chmod(0o700)
        self._set_environment("PATH", f"{self.executable.parent}:{os.environ['PATH']}")
        self.port = free_port()
        self.addCleanup(self._end_everything)

    def launch(
        self, act: dict[str, Any], restart: tuple[int, float, float] = (0, 600, 0), **changes: Any
    ) -> dict[str, Any]:
        return {
            "fingerprint": "f1",
            "executable": str(self.executable),
            "modelPath": "/models/tiny",
            "configYaml": 'port: "x"\n',
            "environment": {"ACT": json.dumps(act), "ACT_PORT": str(self.port)},
            "secretEnvironment": {"VLLM_API_KEY": "sesame"},
            "gpus": {"kind": "none"},
            "listen": {"address": "127.0.0.1", "port": self.port},
            "servedModelNames": ["tiny"],
            "restart": dict(zip(("max", "withinSeconds", "delaySeconds"), restart)),
            "drainSeconds": 1,
            **changes,
        }

    def start(self, act: dict[str, Any], **changes: Any) -> dict[str, Any]:
        return self.apply({"kind": "start", "launch": self.launch(act, **changes)})[0]["start"]

    def wait(self, **changes: Any) -> dict[str, Any]:
        return self.apply(wait_step(**changes))[0]["wait"]

    def stop(self, **changes: Any) -> dict[str, Any]:
        step = {"kind": "stop", "drainSeconds": 1, "killAfterSeconds": 5, "gpuFreeSeconds": 1, **changes}
        return self.apply(step)[0]["stop"]

    def apply(self, *steps: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
        found = run_record.read(self.server_id)
        leader = run_record.living(found, "leader")
        expect = {
            "generation": run_record.generation_of(found),
            "leaderPid": None if leader is None else leader[0],
        }
        request = {
            "op": "apply",
            "serverId": self.server_id,
            "urn": "urn:chat",
            "client": "ann@laptop (shop/prod)",
            "lockWaitSeconds": 0,
            "expect": expect,
            "steps": list(steps),
            **changes,
        }
        return apply.run(request)["steps"]

    def run_json(self) -> dict[str, Any]:
        return run_record.read(self.server_id) or {}

    def members(self) -> list[processes.Process]:
        return processes.members_of(self.server_id, run_record.read(self.server_id))

    def log(self, generation: int = 1) -> str:
        return (self.state() / "logs" / f"{generation}.log").read_text()

    def state(self) -> Path:
        return paths.server_folder(self.server_id)

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "events").read_text().splitlines()]

    def until(self, claim: Callable[[], Any], seconds: float = 15.0) -> Any:
        """The first true answer; what is known of the server when there is none in time."""
        end = time.monotonic() + seconds
        while True:
            answer = claim()
            if answer:
                return answer
            if time.monotonic() > end:
                logs = {path.name: path.read_text() for path in (self.state() / "logs").glob("*")}
                self.fail(f"not within {seconds} s: {json.dumps(self.run_json())} {logs} {self.members()}")
            time.sleep(0.02)

    def supervisor_gone(self) -> bool:
        return run_record.living(run_record.read(self.server_id), "supervisor") is None

    def assert_nothing_left(self) -> None:
        self.assertEqual([], self.members())
        self.assertTrue(self.supervisor_gone())
        self.assertFalse(os.path.exists(f"/dev/shm/{self.shm}"))
        self.assertEqual([], os.listdir(paths.temp_folder(self.server_id)))

    def _end_everything(self) -> None:
        """For tests that failed half-way, too: only what the records of this test name."""
        (self.state()).mkdir(parents=True, exist_ok=True)
        records.write_json(self.state() / "stop-intent", {})
        for _ in range(200):
            supervisor = run_record.living(run_record.read(self.server_id), "supervisor")
            alive = [(member.pid, member.start_ticks) for member in self.members()]
            if not alive and supervisor is None:
                break
            for identity in alive + ([] if supervisor is None else [supervisor]):
                kill(identity)
            time.sleep(0.05)
        Path(f"/dev/shm/{self.shm}").unlink(missing_ok=True)

    def _patch(self, module: Any, name: str, value: Any) -> None:
        self.addCleanup(setattr, module, name, getattr(module, name))
        setattr(module, name, value)

    def _set_environment(self, name: str, value: str) -> None:
        before: Optional[str] = os.environ.get(name)
        self.addCleanup(
            lambda: os.environ.pop(name, None) if before is None else os.environ.update({name: before})
        )
        os.environ[name] = value


def wait_step(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "wait",
        "probe": "auto",
        "apiKey": "sesame",
        "fingerprint": None,
        "timeoutSeconds": 20,
        "fatalPatterns": [],
        "stallSeconds": 0,
        "idlePatterns": [],
        **changes,
    }


def kill(identity: tuple[int, int]) -> None:
    """Returns when it is dead, reaped or not."""
    if processes.is_same(*identity):
        os.kill(identity[0], signal.SIGKILL)
        while processes.is_same(*identity):
            time.sleep(0.005)


def free_port() -> int:
    """Below the ports the kernel gives to clients: one of those would be free only until the next client."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port


# Where nobody listens and nobody wants to.
ELSEWHERE = {"address": "127.0.0.1", "port": 1}


class ApplyCase(ActingCase):
    def refusal(self, *steps: dict[str, Any], **changes: Any) -> AgentFailure:
        with self.assertRaises(AgentFailure) as caught:
            self.apply(*steps, **changes)
        return caught.exception

    def start_step(self, **changes: Any) -> dict[str, Any]:
        return {"kind": "start", "launch": self.launch({}, **changes)}
