"""install.py and below it: one environment per declaration, built by the real uv from an index of this test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

from package_server import catalog
from package_server.index import Index
from package_server.server import serving
from package_server.wheel import Wheel

from agent import environment_use, environments, executable, job, job_use, processes

from .installing import LOGIN, UV, InstallCase

NAME = "00000000000000aa"
OTHER = "00000000000000bb"


class InstallTest(InstallCase):
    def test_a_bare_host_gets_the_vllm_declared_and_it_runs(self):
        self.assertEqual(
            executable.find(f"environments/{NAME}"), {"found": False, "reason": "it is not installed yet"}
        )
        done = self.install()
        path = self.state / "environments" / NAME / "bin" / "vllm"
        self.assertEqual(
            {**done, "seconds": None},
            {"executable": str(path), "version": "0.32.0", "built": True, "seconds": None},
        )
        self.assertEqual(subprocess.run([path, "--version"], capture_output=True).stdout, b"0.32.0\n")
        self.assertEqual(
            executable.find(f"environments/{NAME}"), {"found": True, "path": str(path), "version": "0.32.0"}
        )
        record = environments.read(NAME)
        self.assertEqual(record["builtWith"], "uv 0.13.9")
        self.assertEqual((record["facts"]["torch"], record["facts"]["cuda"]), ("2.13.0", None))
        self.assertEqual(record["declaration"]["indexUrl"], self.url)

    def test_a_complete_one_is_instant_and_never_touched(self):
        self.install()
        before = self.stamps()
        asked = dict(self.index.requests)
        done = self.install()
        self.assertEqual((done["built"], done["version"]), (False, "0.32.0"))
        self.assertEqual(self.stamps(), before)
        self.assertEqual(dict(self.index.requests), asked)

    def stamps(self):
        root = self.state / "environments" / NAME
        return {
            str(path): path.lstat().st_mtime_ns for path in root.rglob("*") if "__pycache__" not in path.parts
        }

    def test_two_servers_at_once_build_it_once(self):
        self.server("other-0a1b2c3d")
        self.index.add(catalog.torch(padding_bytes=2_000_000))
        self.index.faults.bytes_per_second = 4_000_000
        code = (
            "import json, sys; sys.path[:0] = json.loads(sys.argv[1]); from agent import install; "
            "print('up'); sys.stdout.flush(); sys.stdin.readline(); "
            "print(json.dumps(install.run(sys.argv[2], json.loads(sys.argv[3]))))"
        )
        step = json.dumps({"environment": self.wish(), "timeoutSeconds": 60})
        sides = [
            self.spawn(code, json.dumps(sys.path), server_id, step, session=False)
            for server_id in ("chat-0a1b2c3d", "other-0a1b2c3d")
        ]
        for side in sides:
            side.stdin.write(b"go\n")
            side.stdin.flush()
        told = [json.loads(side.stdout.read().splitlines()[-1]) for side in sides]
        self.assertEqual([one["version"] for one in told], ["0.32.0", "0.32.0"])
        self.assertEqual((self.index.downloads("torch"), self.index.downloads("vllm")), (1, 1))

    def test_an_installation_that_was_killed_is_done_again_from_nothing(self):
        self.index.add(catalog.torch(padding_bytes=2_000_000))
        self.index.faults.bytes_per_second = 500_000
        follower = threading.Thread(target=self.install, daemon=True)
        follower.start()
        first = self.until(lambda: self.living_job() if self.index.downloads("torch") else None)
        (self.state / "environments" / NAME / "half-written").write_text("")
        self.index.faults.bytes_per_second = 0
        os.kill(first, signal.SIGKILL)
        follower.join(60)
        self.assertTrue(environments.is_usable(NAME))
        self.assertFalse((self.state / "environments" / NAME / "half-written").exists())
        self.assertEqual(self.index.downloads("torch"), 2)

    def test_what_a_cut_has_left_is_seen_not_to_be_whole_and_done_again(self):
        """As a host that was switched off leaves it: all is there but the last word."""
        self.install()
        folder = self.state / "environments" / NAME
        (folder / "complete.json").unlink()
        (folder / "half-written").write_text("")
        self.assertEqual(
            executable.find(f"environments/{NAME}"), {"found": False, "reason": "it is not installed yet"}
        )
        self.assertTrue(self.install()["built"])
        self.assertTrue(environments.is_usable(NAME))
        self.assertFalse((folder / "half-written").exists())

    def install_and_be_cut_off(self):
        """By an agent that is killed while torch is on its way."""
        pid = os.fork()
        if pid == 0:
            self.install()
            os._exit(0)
        self.until(lambda: self.index.downloads("torch"))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def test_a_cut_connection_to_the_host_does_not_end_it(self):
        self.index.add(catalog.torch(padding_bytes=1_000_000))
        self.index.faults.bytes_per_second = 1_000_000
        self.install_and_be_cut_off()
        done = self.install()
        self.assertEqual((done["version"], self.index.downloads("torch")), ("0.32.0", 1))

    def test_a_server_that_is_forgotten_meanwhile_leaves_nothing_of_it(self):
        self.index.add(catalog.torch(padding_bytes=2_000_000))
        self.index.faults.bytes_per_second = 200_000
        self.install_and_be_cut_off()
        living = processes.read_process(self.living_job())
        job_use.drop_all("chat-0a1b2c3d")
        environment_use.drop_all("chat-0a1b2c3d")
        self.assertFalse(processes.is_same(living.pid, living.start_ticks))
        self.assertEqual(
            (environments.names(), job.log_file(environments.job_key(NAME)).exists()), ([], False)
        )

    def test_one_that_takes_too_long_is_ended(self):
        self.index.add(catalog.torch(padding_bytes=2_000_000))
        self.index.faults.bytes_per_second = 100_000
        failure = self.refused(self.wish(), timeout_seconds=1)
        self.assertEqual(
            (failure.code, failure.summary),
            (
                "INSTALL_FAILED",
                "Cannot install vllm 0.32.0: it did not end in time, need a faster way to the index or more time",
            ),
        )
        self.assertEqual(environments.names(), [])

    def test_a_version_that_another_hand_has_put_there_is_seen(self):
        self.install()
        python = str(environments.python_path(NAME))
        asked = [UV, "pip", "install", "--quiet", "--python", python, "vllm==0.31.0"]
        environment = {
            **os.environ,
            "UV_DEFAULT_INDEX": self.url,
            "UV_CACHE_DIR": str(self.home / "uv-cache"),
        }
        subprocess.run(asked, env=environment, check=True)
        self.assertEqual(executable.find(f"environments/{NAME}")["version"], "0.31.0")

    def test_one_whose_python_has_gone_is_built_anew(self):
        self.install()
        (self.state / "environments" / NAME / "bin" / "python").unlink()
        found = executable.find(f"environments/{NAME}")
        self.assertRegex(
            found["reason"], r"/bin/python is gone or cannot be run any more: it is installed anew$"
        )
        self.assertTrue(self.install()["built"])

    def test_how_far_it_is_is_told(self):
        self.index.add(catalog.torch(padding_bytes=3_000_000))
        self.index.faults.bytes_per_second = 1_500_000
        self.install()
        progress = [event for event in self.events() if event["event"] == "progress"]
        self.assertTrue(all(event["phase"] == "install" for event in progress))
        downloading = [event for event in progress if event["text"].startswith("downloading torch (3 MiB); ")]
        self.assertTrue(downloading, progress)
        self.assertEqual((downloading[0]["done"], downloading[0]["total"]), (0, 2))
        self.assertEqual((downloading[0]["bytesDone"], downloading[0]["bytesTotal"]), (0, 3040870))

    def test_packages_and_an_extra_index_belong_to_it(self):
        extra = Index([Wheel("our-plugin", "1.0", {"our_plugin.py": b"x = 1\n"})])
        url = self.enter(serving(extra))
        self.install(self.wish(packages=["our-plugin==1.0"], extraIndexUrls=[url]))
        python = str(environments.python_path(NAME))
        self.assertEqual(subprocess.run([python, "-c", "import our_plugin"]).returncode, 0)

    def test_without_a_version_it_is_the_newest(self):
        self.assertEqual(self.install(self.wish(version=None))["version"], "0.32.0")
        older = self.wish(version=None, packages=["vllm<0.32"], name=OTHER)
        self.assertEqual(self.install(older)["version"], "0.31.0")

    def test_what_pip_is_set_up_for_counts_for_uv_too(self):
        self.write_profile(PIP_INDEX_URL=self.url)
        self.assertEqual(self.install(self.wish(indexUrl=None))["version"], "0.32.0")

    def test_logins_are_in_no_argument_no_file_and_no_message(self):
        self.index.login = LOGIN
        self.index.add(catalog.torch(padding_bytes=1_000_000))
        self.index.faults.bytes_per_second = 1_000_000
        wheel = next(iter(self.index.files["vllm"]))
        link = self.with_login().replace("/simple", f"/files/vllm/{wheel}")
        wish = self.wish(version=None, packages=[f"vllm @ {link}"], indexUrl=self.with_login())
        arguments = []
        follower = threading.Thread(target=self.install, args=(wish,), daemon=True)
        follower.start()
        self.until(lambda: self.index.downloads("torch"))
        for process in processes.all_processes():
            with contextlib.suppress(OSError), open(f"/proc/{process.pid}/cmdline", "rb") as file:
                arguments.append(file.read())
        follower.join(60)
        self.assertTrue(environments.is_usable(NAME))
        failure = self.refused(self.wish(name=OTHER, indexUrl=self.with_login("wrong-0815")))
        everywhere = [*self.texts_on_disk().values(), *arguments, str(failure.to_error()).encode()]
        for secret in (LOGIN[1].encode(), b"wrong-0815"):
            self.assertEqual([text for text in everywhere if secret in text], [])

    def living_job(self):
        found = job._living(environments.job_key(NAME))
        return found["pid"] if found else None

    def until(self, claim, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = claim()
            if answer:
                return answer
            time.sleep(0.01)
        self.fail(f"not within {seconds} s: {self.events()}")
