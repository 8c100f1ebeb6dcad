"""What goes wrong with an installation is told in words of the declaration, and leaves nothing."""

from __future__ import annotations

import os

from package_server import catalog
from package_server.wheel import Wheel

from agent import environments, install_failure

from .installing import LOGIN, UV, InstallCase

NAME = "00000000000000aa"


class InstallFailureTest(InstallCase):
    def assert_refused(self, wish, code, summary, change, evidence=None):
        failure = self.refused(wish)
        self.assertEqual((failure.code, failure.summary, failure.change), (code, summary, change))
        if evidence is not None:
            self.assertRegex(failure.evidence or "", evidence)
        self.assertEqual(environments.names(), [])
        return failure

    def test_a_version_that_the_index_has_not(self):
        self.assert_refused(
            self.wish("9.9.9"),
            "INSTALL_FAILED",
            "Cannot install vllm 9.9.9: the index has no vllm==9.9.9",
            "vllm.version, or vllm.indexUrl and vllm.extraIndexUrls",
            "you require vllm==9.9.9",
        )

    def test_a_package_that_nobody_knows(self):
        self.assert_refused(
            self.wish(packages=["our-plugin"]),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: the index knows no our-plugin",
            "vllm.indexUrl or vllm.extraIndexUrls, or vllm.packages",
        )

    def test_packages_that_do_not_go_together(self):
        self.index.add(Wheel("our-plugin", "1.0", requires=["vllm<0.32"]))
        self.assert_refused(
            self.wish(packages=["our-plugin"]),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: the packages do not go together",
            "vllm.packages, vllm.version or vllm.torchBackend",
            "all versions of our-plugin depend on vllm<0.32",
        )

    def test_a_python_that_vllm_does_not_take(self):
        self.index.add(catalog.vllm("0.40.0", requires_python=">=3.99"))
        self.assert_refused(
            self.wish("0.40.0"),
            "INSTALL_FAILED",
            "Cannot install vllm 0.40.0: vllm==0.40.0 wants another Python than this environment has",
            "vllm.python",
        )

    def test_a_python_that_is_not_there(self):
        self.assert_refused(
            self.wish(python="/no/python"),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: there is no such Python, and uv cannot fetch it",
            "vllm.python",
            "No interpreter found at path `/no/python`",
        )

    def test_a_file_that_is_not_what_the_index_says(self):
        self.index.faults.wrong_hash = {"torch-2.13.0-py3-none-any.whl"}
        failure = self.assert_refused(
            self.wish(),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: torch==2.13.0 has another hash than its index says",
            "vllm.indexUrl, or have the index repaired; then try again",
        )
        self.assertTrue(failure.retryable)

    def test_an_index_that_wants_a_login(self):
        self.index.login = LOGIN
        self.assert_refused(
            self.wish(),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: an index or a file wants another login",
            "the login in vllm.indexUrl, vllm.extraIndexUrls or vllm.packages",
        )

    def test_an_index_of_pytorch_that_is_out_of_reach(self):
        said = [
            "error: Request failed after 3 retries in 9.5s",
            "  cause: Failed to fetch: https://torch.example/whl/cpu/torch/",
            "  cause: error sending request for url (https://torch.example/whl/cpu/torch/)",
            "  cause: client error (Connect)",
            "  cause: dns error",
        ]
        failure = install_failure.of("install vllm 0.32.0", 1, said, environments.folder())
        self.assertEqual(
            failure.summary,
            "Cannot install vllm 0.32.0: PyTorch's own index cannot be reached, which vllm.torchBackend asks for "
            "(https://torch.example/whl/cpu/)",
        )
        self.assertIn("leave vllm.torchBackend out", failure.change or "")

    def test_an_index_that_does_not_answer(self):
        self.index.faults.status = 503
        failure = self.assert_refused(
            self.wish(),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: the index or its files cannot be reached",
            "the way from the host to the index (proxy, firewall, vllm.indexUrl), then try again",
            "503 Service Unavailable",
        )
        self.assertTrue(failure.retryable)

    def test_a_download_that_breaks_off_each_time(self):
        self.index.add(catalog.torch(padding_bytes=1_000_000))
        self.index.faults.cut_after_bytes, self.index.faults.cuts_left = 1000, 1000
        self.assert_refused(
            self.wish(),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: the index or its files cannot be reached",
            "the way from the host to the index (proxy, firewall, vllm.indexUrl), then try again",
        )

    def test_an_unknown_torch_backend(self):
        self.assert_refused(
            self.wish(torchBackend="cu999"),
            "INSTALL_FAILED",
            "Cannot install vllm 0.32.0: uv knows no torch backend cu999",
            "vllm.torchBackend",
        )

    def test_a_full_disk(self):
        # uv writes as if its disk were full: no file may grow beyond 100 kB.
        self.index.add(catalog.torch(padding_bytes=1_000_000))
        self.uv.unlink()
        self.program(str(self.uv), f'#!/bin/sh\ntrap "" XFSZ\nulimit -f 200\nexec "{self.real_uv()}" "$@"\n')
        failure = self.refused(self.wish())
        self.assertEqual(failure.code, "DISK_FULL")
        self.assertRegex(
            failure.summary,
            r"^Cannot install vllm 0.32.0: the disk or quota is full \(\d+ bytes free at .*/environments\), need room; what was "
            r"installed so far is removed$",
        )
        self.assertEqual(environments.names(), [])

    def real_uv(self):
        return os.path.realpath(UV)

    def test_a_vllm_that_does_not_start(self):
        self.index.add(
            Wheel("vllm", "0.33.0", {"vllm/__init__.py": b"raise ImportError('no libfoo.so.1')\n"})
        )
        self.assert_refused(
            self.wish("0.33.0"),
            "INSTALL_FAILED",
            "Cannot use the environment for vLLM: what was installed has no program `vllm`",
            "vllm.version or vllm.packages: they have to bring vllm",
        )
        broken = {"vllm/__init__.py": b"", "vllm/command.py": b"raise ImportError('no libfoo.so.1')\n"}
        self.index.add(Wheel("vllm", "0.34.0", broken, console_scripts={"vllm": "vllm.command:main"}))
        self.assert_refused(
            self.wish("0.34.0"),
            "INSTALL_FAILED",
            "Cannot use the environment for vLLM that was installed: `vllm --version` ends with 1",
            "vllm.version, vllm.packages or vllm.python: they do not go together",
            "ImportError: no libfoo.so.1",
        )

    def test_a_vllm_that_tells_its_version_and_cannot_be_imported(self):
        only_its_program = (
            b"import sys\nif not sys.argv[0].endswith('/vllm'):\n    raise ImportError('no libbar.so.2')\n"
        )
        whole = catalog.vllm("0.33.0")
        self.index.add(
            Wheel(
                "vllm",
                "0.33.0",
                {**whole.files, "vllm/__init__.py": only_its_program},
                console_scripts={"vllm": "vllm.command:main"},
                requires=("torch",),
            )
        )
        self.assert_refused(
            self.wish("0.33.0"),
            "INSTALL_FAILED",
            "Cannot use the environment for vLLM that was installed: `import vllm` ends with 1",
            "vllm.version, vllm.packages or vllm.python: they do not go together",
            "ImportError: no libbar.so.2",
        )
        self.index.add(
            Wheel("torch", "2.14.0", {"torch/__init__.py": b"raise ImportError('no libcudart.so')\n"})
        )
        self.assert_refused(
            self.wish(packages=["torch==2.14.0"]),
            "INSTALL_FAILED",
            "Cannot use the environment for vLLM that was installed: `import torch` fails (ImportError: no libcudart.so)",
            "vllm.version, vllm.packages or vllm.python: they do not go together",
        )
