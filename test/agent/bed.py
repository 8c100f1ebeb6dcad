"""A home folder of its own for each test, real processes in it, and the agent as a client runs it."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

from agent import executable, host_turn, processes

from . import AGENT_FOLDER

URN = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/vllm:VllmServer::chat"
OWNER = {
    "serverId": "chat-0a1b2c3d",
    "urn": URN,
    "project": "shop",
    "stack": "prod",
    "name": "chat",
    "createdBy": "ann@laptop",
    "createdAt": "2026-12-01T10:00:00.000Z",
    "confirmed": False,
    "claimId": "c1a1",
}


class HostCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pvllm-test-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.bin = self.home / "bin"
        self.bin.mkdir()
        kept = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(kept)))
        os.environ.clear()
        os.environ.update({"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", "SHELL": "/bin/sh"})
        os.environ[host_turn.SCOPE_VARIABLE] = str(self.home)
        executable._login_environment.cache_clear()
        self.state = self.home / ".local" / "state" / "pulumi-vllm"

    def program(self, name, text):
        """An executable script on PATH."""
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def spawn(self, code, *arguments, session=True, **environment):
        """A Python process that has said "up"; ended, with its session, after the test."""
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-u", "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=session,
        )
        self.addCleanup(_end, child)
        self.assertEqual(child.stdout.readline().strip(), b"up")
        return child

    def record(self, server_id, **files):
        """Writes JSON records of a server: record("chat-1", owner={...}, run={...})."""
        folder = self.state / server_id
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in files.items():
            (folder / (name + ".json")).write_text(json.dumps(value))
        return folder


SLEEPER = "import sys; print('up'); sys.stdin.read()"
# Named as a supervisor is.
SUPERVISOR = "open('/proc/self/comm', 'w').write('pvllm-chat-0a1b')\n" + SLEEPER


def identity(pid):
    return {"pid": pid, "startTicks": processes.read_process(pid).start_ticks}


def bundle(**changed):
    """Standard input of the agent up to the request, as the client makes it; None removes a module."""
    texts = {path.stem: path.read_text() for path in AGENT_FOLDER.glob("*.py")}
    loader = texts.pop("loader")
    texts.update(changed)
    modules = {path.name: path.read_text() for path in AGENT_FOLDER.glob("*.sh") if path.name != "launch.sh"}
    modules |= {_module(stem): text for stem, text in texts.items() if text is not None}
    packed = zlib.compress(json.dumps({"loader": loader, "modules": modules}).encode())
    return b"%d\n%s" % (len(packed), packed)


def _module(stem):
    return "agent" if stem == "__init__" else "agent." + stem


def launch_text():
    """launch.sh as it travels: without the lines that start with #, in one line."""
    lines = (AGENT_FOLDER / "launch.sh").read_text().splitlines()
    return " ".join(line.strip() for line in lines if not line.startswith("#"))


def run_agent(request, shell="/bin/sh", python="", modules=None, text=None):
    """(exit code, events, stderr) of one exec, the way sshd does it: login shell, -c, one command line."""
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    command = "sh -c '{}' sh {}".format(text or launch_text(), shlex.quote(python) if python else "''")
    done = subprocess.run(
        [shell, "-c", command],
        input=bundle(**(modules or {})) + body,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def _end(child):
    if child.poll() is None:
        child.kill()
    child.stdin.close()
    child.stdout.close()
    child.wait()
