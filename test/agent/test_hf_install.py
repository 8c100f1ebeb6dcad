"""hf_client.py and hf_install.py: the hub's client is found where it is, and brought to a host that has none."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

from package_server.index import Index
from package_server.server import serving
from package_server.wheel import Wheel

from agent import executable, hf_client, hf_install, job, ownership, paths
from agent.hub_cache import File

from . import hub_client
from .fetching import HF, SHA, SHARDS, FetchCase
from .installing import UV


class FindTest(FetchCase):
    client = None

    def hf(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("hf", "vllm"):
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
        return folder / "hf"

    def launch(self, vllm: Path) -> None:
        launch: dict[str, Any] = {
            "fingerprint": "x",
            "executable": str(vllm),
            "modelPath": "/m",
            "servedModelNames": [],
        }
        launch |= {"restart": {"max": 0, "withinSeconds": 0, "delaySeconds": 0}}
        self.record(self.ids[0], launch={**launch, "listen": {"address": "::1", "port": 1}})

    def test_the_one_beside_the_vllm_of_the_login_comes_first_then_the_last_started_then_ours(self) -> None:
        self.assertIsNone(hf_client.find(self.ids[0]))
        ours = self.hf(paths.state_root() / "environments" / ("0" * 16) / "bin")
        self.assertIsNone(hf_client.find(self.ids[0]))
        (ours.parent.parent / "complete.json").write_text("{}")
        self.assertEqual(ours, hf_client.find(self.ids[0]))
        beside = self.hf(self.home / "other" / "bin")
        self.launch(beside.with_name("vllm"))
        self.assertEqual(beside, hf_client.find(self.ids[0]))
        real = self.hf(self.home / "venv" / "bin")
        (self.bin / "vllm").symlink_to(real.with_name("vllm"))
        self.assertEqual(real, hf_client.find(self.ids[0]))

    def test_the_one_beside_the_vllm_that_is_wished_comes_before_all_however_it_is_wished(self) -> None:
        server_id = self.ids[0]
        self.hf(self.bin)
        wished = self.hf(self.home / "opt" / "bin")
        self.launch(self.hf(self.home / "other" / "bin").with_name("vllm"))
        (self.home / "link").symlink_to(wished.with_name("vllm"))
        (self.bin / "vllm-next").symlink_to(wished.with_name("vllm"))
        for vllm in (str(wished.with_name("vllm")), "~/opt/bin/vllm", str(self.home / "link"), "vllm-next"):
            with self.subTest(vllm=vllm):
                found = hf_client.find(server_id, vllm)
                self.assertEqual(wished if "next" not in vllm else self.bin / "hf", found)
        name = "0" * 16
        built = self.hf(paths.state_root() / "environments" / name / "bin")
        beside = self.home / "other" / "bin" / "hf"
        self.assertEqual(beside, hf_client.find(server_id, f"environments/{name}"))
        (built.with_name("python")).symlink_to("/bin/sh")
        (built.parent.parent / "complete.json").write_text('{"facts": {}}')
        self.assertEqual(built, hf_client.find(server_id, f"environments/{name}"))
        self.assertEqual(beside, hf_client.find(server_id, "/not/there/vllm"))

    def test_on_a_first_create_nothing_is_installed_where_one_stands_beside_the_vllm_declared(self) -> None:
        if not HF.exists():
            self.skipTest(hub_client.MISSING)
        declared = self.home / "opt" / "bin"
        declared.mkdir(parents=True)
        (declared / "vllm").write_text("#!/bin/sh\n")
        (declared / "hf").symlink_to(HF)
        self.vllm = str(declared / "vllm")
        self.assertEqual(SHA, self.fetch()["revision"])
        self.assertFalse((paths.state_root() / "tools").exists())

    def test_clients_get_about_as_many_bytes_each_and_never_none(self) -> None:
        files = [File(f"{number}.bin", size, "d" * 64) for number, size in enumerate((5, 90, 40, 50, 7))]
        self.keep(os, "sched_getaffinity", lambda _pid: set(range(64)))
        for most, wanted in (
            (1, [[90, 50, 40, 7, 5]]),
            (2, [[90, 7], [50, 40, 5]]),
            (9, [[90], [50], [40], [7], [5]]),
        ):
            self.keep(hf_client, "MOST_CLIENTS", most)
            self.assertEqual(wanted, [[file.size for file in share] for share in hf_client.shares(files)])
        for cores in (1, 2, 3):
            self.keep(os, "sched_getaffinity", lambda _pid, cores=cores: set(range(cores)))
            self.assertEqual(cores, len(hf_client.shares(files)))


class InstallTest(FetchCase):
    client = None

    def setUp(self) -> None:
        if not HF.exists():
            self.skipTest(hub_client.MISSING)
        super().setUp()
        script = f'#!/bin/sh\nexec {HF} "$@"\n'.encode()
        self.index = Index([Wheel("huggingface-hub", hf_install.VERSION, scripts={"hf": script})])
        context = serving(self.index)
        self.url = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        place = self.home / ".local" / "bin" / "uv"
        place.parent.mkdir(parents=True)
        assert UV is not None
        place.symlink_to(UV)
        self.login()

    def login(self, **variables: str) -> None:
        told = {"UV_DEFAULT_INDEX": self.url, "UV_CACHE_DIR": str(self.home / "uv"), "UV_HTTP_RETRIES": "0"}
        self.profile(**{**told, "UV_PYTHON_DOWNLOADS": "never", **variables})
        executable._login_environment.cache_clear()

    def test_a_host_without_a_client_gets_one_which_goes_with_the_last_server(self) -> None:
        self.assertEqual(SHA, self.fetch()["revision"])
        self.assertEqual(hf_install.program(), hf_client.find(self.ids[0]))
        self.assertIn("install", {event.get("phase") for event in self.told})
        said = next(str(event["text"]) for event in self.told if event.get("phase") == "install")
        self.assertTrue(
            said.startswith(f"the hub's client (huggingface_hub {hf_install.VERSION}, the host has none): "),
            said,
        )
        ownership.forget(self.ids[0])
        self.assertTrue(hf_install.is_complete())
        ownership.forget(self.ids[1])
        self.assertFalse(hf_install.program().parent.parent.exists())

    def test_an_index_that_does_not_give_it_is_an_error_and_the_next_attempt_begins_anew(self) -> None:
        self.index.faults.status = 404
        found = self.refused()
        self.assertEqual("INSTALL_FAILED", found.code)
        self.assertFalse(hf_install.is_complete())
        self.index.faults.status = None
        self.assertEqual(SHA, self.fetch()["revision"])
        self.assertFalse(job.folder(hf_install.KEY).exists())

    def test_one_that_is_needed_in_the_midst_of_a_job_shows_how_far_it_is(self) -> None:
        self.fetch()
        shutil.rmtree(hf_install.program().parent.parent)
        with open(self.blob(SHARDS[0]), "r+b") as shard:
            shard.seek(9)
            shard.write(b"x")
        self.told.clear()
        shutil.rmtree(self.home / "uv")
        self.index.faults.bytes_per_second = 100
        found: list[Any] = []
        follower = threading.Thread(target=lambda: found.append(self.fetch()), daemon=True)
        follower.start()
        self.until(lambda: any("the hub's client (" in str(event.get("text")) for event in self.told))
        self.index.faults.bytes_per_second = 0
        follower.join(60)
        self.assertEqual([SHARDS[0]], found[0]["refetched"])
