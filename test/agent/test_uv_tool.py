"""uv_tool.py: the host's uv where it has one, else one that is fetched, checked, without pip."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

from package_server import catalog
from package_server.wheel import Wheel

from agent import environments, job, processes, uv_fetch, uv_tool, wheel_choice
from agent.failure import AgentFailure

from .installing import LOGIN, UV, UV_VERSION, InstallCase

OURS = f"tools/uv-{uv_tool.PINNED}/uv"


class UvToolTest(InstallCase):
    def setUp(self):
        super().setUp()
        self.uv.unlink()
        # The machine that runs the tests may have one in /usr/bin.
        self.write_profile(PATH=str(self.bin))
        self.reports = []

    def ensure(self, index=None):
        return uv_tool.ensure(index, self.reports.append)

    def refused(self, index=None):
        with self.assertRaises(AgentFailure) as caught:
            self.ensure(index)
        self.assertFalse((self.state / "tools" / f"uv-{uv_tool.PINNED}").exists())
        return caught.exception

    def uv_program(self, path, version):
        return self.program(str(path), f"#!/bin/sh\necho 'uv {version} (somewhere)'\n")

    def test_one_on_the_login_path_comes_first(self):
        self.uv_program(self.home / ".local/bin/uv", "0.12.0")
        on_path = self.uv_program(self.bin / "uv", "0.11.3")
        self.assertEqual(self.ensure(), uv_tool.Uv(str(on_path), "0.11.3"))
        self.assertEqual(self.reports, [])

    def test_it_is_found_where_installers_put_it_and_beside_vllm(self):
        self.program("vllm", "#!/bin/sh\n")
        beside = self.uv_program(self.bin / "uv", "0.9.9")
        real = self.home / "somewhere" / "vllm"
        self.program(str(real), "#!/bin/sh\n")
        (self.bin / "vllm").unlink()
        (self.bin / "vllm").symlink_to(real)
        beside.rename(real.with_name("uv"))
        self.assertEqual(self.ensure().path, str(real.with_name("uv")))
        cargo = self.uv_program(self.home / ".cargo/bin/uv", "0.10.0")
        self.assertEqual(self.ensure().path, str(cargo))

    def test_one_that_is_too_old_or_does_not_run_does_not_count(self):
        self.uv_program(self.bin / "uv", "0.6.8")
        self.program(str(self.home / ".local/bin/uv"), "#!/bin/sh\nexit 127\n")
        good = self.uv_program(self.home / ".cargo/bin/uv", "0.6.9")
        self.assertEqual(self.ensure().path, str(good))

    def test_a_host_without_uv_and_pip_gets_it_from_the_index(self):
        self.index.add(catalog.uv(UV_VERSION, UV))
        found = self.ensure(self.url)
        self.assertEqual(found, uv_tool.Uv(str(self.state / OURS), UV_VERSION))
        self.assertEqual(os.listdir(self.state / "tools"), [f"uv-{UV_VERSION}"])
        self.assertEqual(os.listdir(self.state / "tools" / f"uv-{UV_VERSION}"), ["uv"])
        told = subprocess.run([found.path, "--version"], capture_output=True).stdout
        self.assertRegex(told, rb"^uv 0\.13\.9 ")
        self.assertEqual(self.ensure(self.url), found)
        self.assertEqual(self.index.downloads("uv"), 1)
        self.assertEqual([one["text"] for one in self.reports], ["fetching uv 0.13.9, the host has none"])

    def test_an_environment_is_built_with_the_one_that_was_fetched(self):
        self.index.add(catalog.uv(UV_VERSION, UV))
        # uv finds Python by itself where the login has none.
        self.assertTrue(self.install()["built"])
        self.assertEqual(environments.read("00000000000000aa")["builtWith"], f"uv {UV_VERSION}")
        self.assertTrue((self.state / OURS).is_file())
        told = [event["text"] for event in self.events() if event["event"] == "progress"]
        self.assertIn("fetching uv 0.13.9, the host has none", told)

    def test_the_index_that_the_host_is_set_up_for_is_asked(self):
        self.index.login = LOGIN
        self.index.add(catalog.uv(UV_VERSION, UV))
        (self.home / ".config/pip").mkdir(parents=True)
        (self.home / ".config/pip/pip.conf").write_text(f"[global]\nindex-url = {self.with_login()}\n")
        self.assertEqual(self.ensure().version, UV_VERSION)

    def test_a_download_that_is_cut_goes_on_where_it_was(self):
        self.index.add(catalog.uv(UV_VERSION, UV))
        self.index.faults.cut_after_bytes, self.index.faults.cuts_left = 10_000_000, 2
        self.assertEqual(self.ensure(self.url).version, UV_VERSION)
        self.assertEqual(self.index.downloads("uv"), 3)

    def test_what_has_another_hash_is_not_used(self):
        self.index.add(catalog.uv(UV_VERSION, UV))
        self.index.faults.wrong_hash = set(self.index.files["uv"])
        failure = self.refused(self.url)
        self.assertEqual(failure.code, "INSTALL_FAILED")
        self.assertRegex(failure.summary, r"has sha256 [0-9a-f]{64}, need 0{64} as the index says$")

    def test_an_index_without_a_fitting_uv(self):
        machine = wheel_choice.this_machine()
        library = "glibc %d.%d" % machine.glibc
        self.index.add(Wheel("uv", UV_VERSION, tags=("py3-none-win_amd64",)))
        failure = self.refused(self.url)
        self.assertEqual(
            (failure.code, failure.summary),
            (
                "INSTALLER_MISSING",
                f"Cannot build an environment for vLLM: the host has no uv, and the package index {self.url} has no uv "
                f"{UV_VERSION} for {machine.name} with {library}, need uv",
            ),
        )

    def test_an_index_that_is_not_there_or_refuses(self):
        self.assertRegex(
            self.refused("http://127.0.0.1:9/simple").summary, r"127\.0\.0\.1:9/simple: it cannot be reached"
        )
        self.index.login = LOGIN
        told = self.refused(self.with_login("wrong-0815"))
        self.assertEqual(
            told.summary, f"Cannot use the package index {self.url}: it answers 401 Unauthorized"
        )
        self.assertNotIn("wrong-0815", str(told.to_error()))

    def test_without_an_index_pip_fetches_it(self):
        # A pip of this test: it knows its index by itself.
        self.index.add(catalog.uv(UV_VERSION, UV))
        wheel, (content, _metadata) = next(iter(self.index.files["uv"].items()))
        (self.home / wheel).write_bytes(content)
        self.stand_in_python(f'[ "$3" = --version ] && exit 0\ncp "{self.home}/{wheel}" "$9/"\n')
        self.assertEqual(self.ensure().path, str(self.state / OURS))

    def test_a_pip_that_fetches_it_ends_with_a_job_that_is_killed(self):
        self.stand_in_python(
            f'[ "$3" = --version ] && exit 0\necho $$ >> "{self.home}/pips"\n'
            f'[ -e "{self.home}/go" ] && exit 1\nexec sleep 600\n'
        )
        failures = []
        wish = self.wish(indexUrl=None)
        follower = threading.Thread(target=lambda: failures.append(self.refused_install(wish)), daemon=True)
        follower.start()
        self.until(lambda: (self.home / "pips").exists() and (self.home / "pips").read_text().endswith("\n"))
        pip = processes.read_process(int((self.home / "pips").read_text()))
        (self.home / "go").touch()
        os.kill(job._living(environments.job_key(wish["name"]))["pid"], signal.SIGKILL)
        self.until(lambda: not processes.is_same(pip.pid, pip.start_ticks))
        follower.join(60)
        self.assertEqual([failure.code for failure in failures], ["INSTALLER_MISSING"])
        self.assertEqual(failures[0].summary.count("its pip, asked for uv 0.13.9, ends with 1"), 1)

    def refused_install(self, wish):
        with self.assertRaises(AgentFailure) as caught:
            self.install(wish)
        return caught.exception

    def until(self, claim):
        end = time.monotonic() + 60
        while not claim():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_without_an_index_and_pip_the_ways_out_are_told(self):
        self.stand_in_python("exit 1\n")
        failure = self.refused()
        self.assertEqual(failure.code, "INSTALLER_MISSING")
        for way in ("~/.local/bin", "vllm.indexUrl", "UV_DEFAULT_INDEX", "pip", "vllm.executable"):
            self.assertIn(way, failure.change)

    def stand_in_python(self, text):
        """What the agent takes for the host's Python, and the python3 of the login."""
        (self.bin / "python3").unlink()
        python = self.program("python3", "#!/bin/sh\n" + text)
        self.addCleanup(setattr, sys, "executable", sys.executable)
        sys.executable = str(python)
        self.addCleanup(setattr, uv_fetch, "_PIP_WHEELS", uv_fetch._PIP_WHEELS)
        uv_fetch._PIP_WHEELS = ()
        os.environ["PATH"] = f"{self.bin}:/usr/bin:/bin"
        self.write_profile(PATH=f"{self.bin}:/usr/bin:/bin")
