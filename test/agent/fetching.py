"""The step "fetch" against a hub of this test, with the hub's real client or one that acts."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Optional

from agent import checkpoint_record, events, fetch, hf_client, hub_http, job, job_children, paths, redact
from agent.failure import AgentFailure
from test.support.hub import Hub

from . import AGENT_FOLDER, hub_client
from .bed import OWNER, HostCase

HF = Path(hub_client.HF or "hf")

KEY = "0a1b2c3d4e5f6071"
SHA = "a" * 40
SHARD_BYTES = 400_000
SHARDS = [f"model-0000{number}-of-00004.safetensors" for number in (1, 2, 3, 4)]
INDEX = {
    "metadata": {"total_size": 4 * SHARD_BYTES},
    "weight_map": {f"layer.{number}": name for number, name in enumerate(SHARDS)},
}
FILES = {
    "config.json": {"json": {"model_type": "llama"}},
    "model.safetensors.index.json": {"json": INDEX},
    **{name: {"safetensors": SHARD_BYTES} for name in SHARDS},
}
# Runs the step in a process of its own, as an agent that can be cut off, and leaves what came of it in a file.
FOLLOWER = """
import json, sys; sys.path.insert(0, %r)
from agent import events, fetch, hf_client
from agent.failure import AgentFailure
events.emit = lambda event: None
hf_client.MOST_CLIENTS = 1
server_id, step, out = sys.argv[1:]
print("up")
try:
    found = fetch.run(server_id, json.loads(step))
except AgentFailure as failure:
    found = failure.to_error()
with open(out + ".part", "w") as file:
    json.dump(found, file)
import os; os.rename(out + ".part", out)
sys.stdin.read()
"""


class FetchCase(HostCase):
    """`self.hub` has org/m with four shards; `self.ids` are two servers that are claimed."""

    repositories: ClassVar[dict[str, Any]] = {
        "org/m": {"revisions": [{"sha": SHA, "refs": ["main"], "files": FILES}]}
    }
    client: Optional[Path] = HF
    # The executable that is wished.
    vllm: Optional[str] = None

    def setUp(self) -> None:
        if self.client is not None and not self.client.exists():
            self.skipTest(hub_client.MISSING)
        super().setUp()
        # What others were made to show of this test's secrets is no longer hidden after it.
        self.addCleanup(redact.learn, {})
        self.hub = Hub({"repositories": self.repositories, "invalidTokens": ["hf_expired"]})
        self.hub.__enter__()
        self.addCleanup(self.hub.__exit__)
        self.keep(hub_http, "PAUSES_SECONDS", (0.0, 0.0))
        # However many cores this machine has.
        self.keep(hf_client, "MOST_CLIENTS", 1)
        self.told: list[dict[str, Any]] = []
        self.keep(events, "emit", self.told.append)
        self.profile()
        if self.client is not None:
            (self.bin / "hf").symlink_to(self.client)
        self.ids = ["chat-00000001", "talk-00000002"]
        for server_id in self.ids:
            self.record(server_id, owner={**OWNER, "serverId": server_id, "urn": "urn:" + server_id})
        self.cache = self.home / ".cache" / "huggingface" / "hub"
        self.addCleanup(self.assert_nothing_runs)
        self.addCleanup(self.end_jobs)

    def keep(self, module: Any, name: str, value: Any) -> None:
        self.addCleanup(setattr, module, name, getattr(module, name))
        setattr(module, name, value)

    def profile(self, **variables: str) -> None:
        """What a login of the user sets."""
        told = {"PATH": f"{self.bin}:/usr/bin:/bin", **variables}
        lines = [f"export {name}='{text}'" for name, text in told.items()]
        (self.home / ".profile").write_text("\n".join(lines) + "\n")

    def step(self, **changes: Any) -> dict[str, Any]:
        checkpoint = {
            "key": KEY,
            "repo": "org/m",
            "revision": None,
            "resolved": None,
            "include": None,
            "exclude": None,
            "endpoint": self.hub.url,
            "cacheDir": None,
            "token": None,
            "verify": "headers",
            "loadFormat": None,
            "stallSeconds": 60,
            **changes,
        }
        return {"kind": "fetch", "executable": self.vllm, "checkpoint": checkpoint}

    def fetch(self, server: int = 0, **changes: Any) -> dict[str, Any]:
        step = self.step(**changes)
        redact.learn({"steps": [step]})
        return fetch.run(self.ids[server], step)

    def refused(self, server: int = 0, **changes: Any) -> AgentFailure:
        with self.assertRaises(AgentFailure) as caught:
            self.fetch(server, **changes)
        return caught.exception

    def follower(self, server: int = 0, **changes: Any) -> tuple[Any, Callable[[], Any]]:
        """The process, and what waits for what it came to."""
        out = self.home / f"out-{server}-{len(list(self.home.glob('out-*')))}"
        code = FOLLOWER % str(AGENT_FOLDER.parent)
        child = self.spawn(code, self.ids[server], json.dumps(self.step(**changes)), str(out))
        return child, lambda: json.loads(self.until(lambda: out.exists() and out.read_text()))

    def until(self, claim: Callable[[], Any], seconds: float = 60.0) -> Any:
        end = time.monotonic() + seconds
        while not (answer := claim()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return answer

    def blob(self, name: str) -> Path:
        return Path(os.path.realpath(self.snapshot() / name))

    def share(self, blob: Path) -> Path:
        """Puts it where a client that takes files by Xet puts them: into the store of the cache, with a link to it."""
        name = "e" * 64
        store = self.cache / "blobs"
        stored = store / name[:2] / name
        stored.parent.mkdir(parents=True)
        (store / ".huggingface-shared-blobs").write_text("1\n")
        (stored.parent / f"{name}.refs").write_text(f"{blob.relative_to(self.cache)}\n")
        blob.rename(stored)
        blob.symlink_to(os.path.relpath(stored, blob.parent))
        return stored

    def snapshot(self, sha: str = SHA) -> Path:
        return self.cache / "models--org--m" / "snapshots" / sha

    def gets(self) -> dict[str, int]:
        """How often each file was asked for."""
        files = self.hub.counts.files().get("org/m", {})
        return {name: file["gets"] for name, file in sorted(files.items()) if file["gets"]}

    def job_pid(self) -> int:
        return self.until(lambda: next(iter(self._jobs()), None))["pid"]

    def clients(self) -> list[Any]:
        return [one for folder in self._folders() for one in job_children.marked(str(folder))]

    def end_jobs(self) -> None:
        self.hub.faults.set([])
        for folder in self._folders():
            job.cancel(folder.name)

    def assert_nothing_runs(self) -> None:
        self.assertEqual([], self.clients())

    def record_of(self, key: str = KEY) -> Any:
        return json.loads(checkpoint_record.file_of(key).read_text())

    def _folders(self) -> list[Path]:
        place = paths.state_root() / "jobs"
        return sorted(place.iterdir()) if place.is_dir() else []

    def _jobs(self) -> list[dict[str, Any]]:
        found = (job._living(folder.name) for folder in self._folders())
        return [one for one in found if one is not None]


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
