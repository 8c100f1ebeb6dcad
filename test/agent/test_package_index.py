"""package_index.py, index_page.py, wheel_choice.py, index_choice.py: reading an index without pip."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import unittest
from pathlib import Path

from package_server import catalog
from package_server.index import Index
from package_server.server import serving

from agent import index_choice, index_page, index_url, wheel_choice
from agent.index_page import File
from agent.package_index import PackageIndex
from agent.wheel_choice import Machine

from .bed import HostCase

SERVE = Path(__file__).resolve().parents[1] / "support" / "package-index" / "serve.py"
GLIBC = Machine("x86_64", (2, 36))
# As they are on the index, of uv 0.13.9.
WHEELS = [
    "uv-0.13.9-py3-none-linux_armv6l.whl",
    "uv-0.13.9-py3-none-macosx_11_0_arm64.whl",
    "uv-0.13.9-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
    "uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "uv-0.13.9-py3-none-manylinux_2_31_riscv64.whl",
    "uv-0.13.9-py3-none-musllinux_1_1_x86_64.whl",
    "uv-0.13.9-py3-none-musllinux_1_1_aarch64.whl",
    "uv-0.13.9-py3-none-win_amd64.whl",
    "uv-0.13.9.tar.gz",
    "uv-0.13.8-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
]


class WheelChoiceTest(unittest.TestCase):
    def test_the_wheel_of_this_machine_and_c_library_is_taken(self):
        cases = {
            GLIBC: WHEELS[3],
            Machine("aarch64", (2, 28)): WHEELS[2],
            Machine("x86_64", None): WHEELS[5],
            Machine("aarch64", None): WHEELS[6],
            Machine("x86_64", (2, 12)): None,
            Machine("riscv64", (2, 31)): WHEELS[4],
            Machine("s390x", (2, 36)): None,
        }
        for machine, wanted in cases.items():
            with self.subTest(machine=machine):
                self.assertEqual(wheel_choice.choose(WHEELS, "uv", "0.13.9", machine), wanted)

    def test_this_machine_is_known(self):
        self.assertRegex(wheel_choice.this_machine().name, r"^(x86_64|aarch64)$")


class PackageIndexTest(HostCase):
    def test_pages_in_html_and_json_say_the_same(self):
        wanted = [
            File("a-1.whl", "https://files.example/x/a-1.whl", "ab" * 32),
            File("b.tar.gz", "https://i.example/b.tar.gz", None),
        ]
        html = (
            f'<a href="https://files.example/x/a-1.whl#sha256={"ab" * 32}" data-requires-python="&gt;=3.9">a-1.whl</a>'
            '<A HREF="../../b.tar.gz">b.tar.gz</A>'
        )
        as_json = (
            '{"files": [{"filename": "a-1.whl", "url": "https://files.example/x/a-1.whl", "hashes": {"sha256": "%s"}},'
            '{"filename": "b.tar.gz", "url": "/b.tar.gz", "hashes": {}}]}' % ("ab" * 32)
        )
        base = "https://i.example/simple/a/"
        self.assertEqual(index_page.files(html, base, "text/html"), wanted)
        self.assertEqual(index_page.files(as_json, base, index_page.JSON), wanted)
        with self.assertRaisesRegex(ValueError, "it has no list of files"):
            index_page.files("[]", base, index_page.JSON)

    def test_a_file_is_whole_and_right_when_it_is_there(self):
        index = Index([catalog.torch(padding_bytes=3_000_000)])
        index.faults.cut_after_bytes, index.faults.cuts_left = 1_000_000, 2
        with serving(index) as url:
            served = PackageIndex(url, {})
            (file,) = served.files("torch")
            got = io.BytesIO()
            served.fetch(file, got)
        self.assertEqual(got.getvalue(), index.files["torch"][file.name][0])

    def test_it_is_served_by_a_process_of_its_own_too(self):
        config = self.home / "config.json"
        config.write_text(
            json.dumps({"packages": [{"kind": "stand-in-vllm", "version": "0.32.0"}, {"kind": "torch"}]})
        )
        argv = [sys.executable, str(SERVE), str(config)]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            url = json.loads(process.stdout.readline())["url"]
            names = [file.name for name in ("vllm", "torch") for file in PackageIndex(url, {}).files(name)]
            process.stdin.write('{"status": 503}\n')
            process.stdin.flush()
            told = json.loads(process.stdout.readline())
            process.stdin.close()
        self.assertEqual(names, ["vllm-0.32.0-py3-none-any.whl", "torch-2.13.0-py3-none-any.whl"])
        self.assertEqual(told, {"requests": {"/simple/vllm/": 1, "/simple/torch/": 1}})

    def test_a_login_goes_to_the_index_and_to_nobody_else(self):
        index = Index([catalog.torch()], login=("ann", "s@same"))
        with serving(index) as url:
            served = PackageIndex(url.replace("://", "://ann:s%40same@"), {})
            self.assertEqual(served.shown, url)
            self.assertEqual([file.name for file in served.files("torch")], ["torch-2.13.0-py3-none-any.whl"])
        self.assertEqual(index_url.login_header("https://i.example/simple"), None)
        self.assertEqual(
            index_url.without_login("see https://ann:x@i.example/a?b=c"), "see https://i.example/a?b=c"
        )

    def test_the_index_is_declared_or_the_hosts_own(self):
        pip_conf = self.home / "pip.conf"
        pip_conf.write_text("[global]\nindex-url = https://pip.example/simple\n")
        cases = [
            (
                "https://ours.example/simple",
                {"UV_DEFAULT_INDEX": "https://uv.example"},
                "https://ours.example/simple",
            ),
            (
                None,
                {"UV_INDEX_URL": "https://uv.example", "PIP_INDEX_URL": "https://pip.example"},
                "https://uv.example",
            ),
            (None, {"UV_INDEX": "corp=https://a.example/x?y=z https://b.example"}, "https://a.example/x?y=z"),
            (None, {"PIP_INDEX_URL": "https://pip.example"}, "https://pip.example"),
            (None, {"PIP_CONFIG_FILE": str(pip_conf)}, "https://pip.example/simple"),
            (None, {}, None),
        ]
        for declared, login, wanted in cases:
            with self.subTest(declared=declared, login=login):
                self.assertEqual(index_choice.declared_or_configured(declared, login), wanted)

    def test_uv_is_told_by_its_environment(self):
        told = index_choice.for_uv("https://a.example", ["https://b.example", "https://c.example"], {})
        self.assertEqual(
            told, {"UV_DEFAULT_INDEX": "https://a.example", "UV_INDEX": "https://b.example https://c.example"}
        )
        pip = {"PIP_INDEX_URL": "https://pip.example"}
        self.assertEqual(index_choice.for_uv(None, [], pip), {"UV_DEFAULT_INDEX": "https://pip.example"})
        self.assertEqual(index_choice.for_uv(None, [], {**pip, "UV_INDEX": "https://u.example"}), {})
        (self.home / ".config/uv").mkdir(parents=True)
        (self.home / ".config/uv/uv.toml").write_text("")
        self.assertEqual(index_choice.for_uv(None, [], pip), {})
