"""checkpoint_purge.py: a server takes its download with it, but for what anybody else here uses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import agent
from agent import (
    checkpoint_purge,
    checkpoint_record,
    checkpoint_use,
    overlay,
    ownership,
    paths,
    processes,
    state_folder,
)

from . import hub_client
from .bed import OWNER
from .fetching import FILES, HF, KEY, SHA, SHARD_BYTES, SHARDS, FetchCase

REMOTE = str(Path(agent.__path__[0]).parent)
OTHER = "b" * 40
OTHER_KEY = "1" * 16


class PurgeTest(FetchCase):
    repositories: ClassVar[dict[str, Any]] = {
        "org/m": {
            "revisions": [
                {"sha": SHA, "refs": ["main"], "files": FILES},
                {
                    "sha": OTHER,
                    "refs": ["v1"],
                    "files": {**FILES, SHARDS[0]: {"safetensors": SHARD_BYTES + 8}},
                },
            ]
        }
    }

    def bytes(self, key: str = KEY) -> int:
        return sum(file["size"] for file in self.record_of(key)["files"])

    def repo(self) -> Path:
        return self.cache / "models--org--m"

    def test_the_last_server_takes_everything_with_it_in_either_order(self) -> None:
        for first, second in ((0, 1), (1, 0)):
            with self.subTest(first=first):
                for server_id in self.ids:
                    self.record(server_id, owner={"urn": "x"})
                self.fetch(0)
                self.fetch(1, key=OTHER_KEY, revision=SHA)
                size = self.bytes()
                kept = ownership.forget(self.ids[first], True)
                why = f"6 files of org/m@{SHA[:12]}: used by server {self.ids[second]}"
                self.assertEqual({"freedBytes": 0, "kept": [why]}, kept)
                self.assertEqual(sorted(FILES), sorted(os.listdir(self.snapshot())))
                self.assertEqual({"freedBytes": size, "kept": []}, ownership.forget(self.ids[second], True))
                self.assertFalse(self.repo().exists())
                self.assertEqual([], list(checkpoint_record.folder().glob("*.json")))

    def test_without_a_wish_for_it_the_files_stay_and_the_record_goes(self) -> None:
        self.fetch()
        self.assertEqual({"freedBytes": 0, "kept": []}, ownership.forget(self.ids[0]))
        self.assertEqual(sorted(FILES), sorted(os.listdir(self.snapshot())))
        self.assertFalse(checkpoint_record.file_of(KEY).exists())
        self.assertFalse(paths.server_folder(self.ids[0]).exists())

    def test_what_another_revision_has_too_stays(self) -> None:
        self.fetch(0)
        self.fetch(1, key=OTHER_KEY, revision=OTHER)
        kept = ownership.forget(self.ids[0], True)
        why = f"5 files of org/m@{SHA[:12]}: also in revision {OTHER[:12]}"
        self.assertEqual({"freedBytes": SHARD_BYTES, "kept": [why]}, kept)
        self.assertFalse(self.snapshot().exists())
        self.assertTrue(all((self.snapshot(OTHER) / name).exists() for name in FILES))

    def test_what_an_overlay_of_another_server_is_made_of_stays(self) -> None:
        self.fetch(0)
        step = {
            "name": "0a1b2c",
            "checkpointPath": str(self.snapshot()),
            "files": {"config.json": "{}"},
            "record": {},
        }
        overlay.build(self.ids[1], step)
        kept = ownership.forget(self.ids[0], True)
        why = f"5 files of org/m@{SHA[:12]}: used by server {self.ids[1]} of shop/prod"
        config = next(file["size"] for file in self.files_before if file["path"] == "config.json")
        self.assertEqual({"freedBytes": config, "kept": [why]}, kept)
        self.assertTrue(all((self.snapshot() / name).exists() for name in SHARDS))

    @property
    def files_before(self) -> list[dict[str, Any]]:
        revision = self.hub.repositories["org/m"].revision("main")
        return [{"path": path, "size": file.content.size_bytes} for path, file in revision.files.items()]

    def test_what_lies_in_a_store_that_repositories_share_is_left_to_the_client_which_then_finds_it(
        self,
    ) -> None:
        self.fetch(0)
        size = self.bytes()
        stored = self.share(self.blob(SHARDS[0]))
        kept = ownership.forget(self.ids[0], True)
        why = "in the store that the repositories of this cache share, where `hf cache prune` removes what is not used"
        self.assertEqual(
            {"freedBytes": size - SHARD_BYTES, "kept": [f"1 file of org/m@{SHA[:12]}: {why}"]}, kept
        )
        self.assertTrue(stored.is_file())
        environment = {**hub_client.environment(self.hub.url, self.home), "HF_HUB_CACHE": str(self.cache)}
        subprocess.run([str(HF), "cache", "prune", "--yes"], env=environment, check=True, capture_output=True)
        self.assertFalse(stored.exists())

    def test_a_server_that_serves_the_folder_by_its_path_keeps_it(self) -> None:
        overlaid = {"modelPath": str(paths.overlays_folder() / "0a1b2c")}
        for served in ({}, overlaid):
            with self.subTest(served=served):
                self.record(self.ids[0], owner={**OWNER, "serverId": self.ids[0], "urn": "x"})
                self.fetch(0)
                record = {**launch(str(self.snapshot())), **served}
                (paths.server_folder(self.ids[1]) / "launch.json").write_text(json.dumps(record))
                kept = ownership.forget(self.ids[0], True)
                why = f"6 files of org/m@{SHA[:12]}: used by server {self.ids[1]} of shop/prod"
                self.assertEqual({"freedBytes": 0, "kept": [why]}, kept)

    def shared(self, *keys: str) -> int:
        """Both servers run from one overlay of one download; its bytes. `keys`: as they have declared it."""
        step = {"name": "0a1b2c", "checkpointPath": str(self.snapshot()), "files": {}, "record": {}}
        for number, (server_id, key) in enumerate(zip(self.ids, keys)):
            self.fetch(number, key=key, revision=SHA)
            overlay.build(server_id, step)
            wish = {**launch(str(paths.overlays_folder() / "0a1b2c")), "checkpointWish": f"checkpoints/{key}"}
            (paths.server_folder(server_id) / "launch.json").write_text(json.dumps(wish))
        return self.bytes()

    def test_two_that_are_destroyed_at_the_same_time_leave_nothing_to_each_other(self) -> None:
        size = self.shared(KEY, OTHER_KEY)
        found: list[dict[str, Any]] = []
        remove = state_folder.remove

        def overtaken(server_id: str) -> None:
            """The other one comes when this one has done all but take its records away."""
            if server_id == self.ids[0]:
                found.append(ownership.forget(self.ids[1], True))
            remove(server_id)

        self.keep(state_folder, "remove", overtaken)
        found.append(ownership.forget(self.ids[0], True))
        self.assertEqual([size, 0], sorted((one["freedBytes"] for one in found), reverse=True))
        self.assertEqual([], next(one["kept"] for one in found if one["freedBytes"] > 0))
        self.assertFalse(self.repo().exists())
        self.assertEqual([".lock"], sorted(set(os.listdir(paths.overlays_folder())) - {".lock.json"}))
        self.assertEqual([], list(checkpoint_record.folder().glob("*.json")))

    def test_one_that_comes_in_the_middle_of_anothers_end_finds_all_of_it_or_nothing(self) -> None:
        for module, name in ((checkpoint_purge, "run"), (checkpoint_use, "drop_all")):
            with self.subTest(before=f"{module.__name__}.{name}"):
                for server_id in self.ids:
                    self.record(server_id, owner={**OWNER, "serverId": server_id, "urn": "x"})
                size = self.shared(KEY, KEY)
                found = self.forget_with_the_other_before(module, name)
                self.assertEqual([size, 0], sorted((one["freedBytes"] for one in found), reverse=True))
                self.assertFalse(self.repo().exists())
                self.assertEqual([], list(checkpoint_record.folder().glob("*.json")))

    def forget_with_the_other_before(self, module: Any, name: str) -> list[dict[str, Any]]:
        """Results of both servers' ends, the second one's from a process of its own: locks are between processes."""
        program = (
            f"import json, sys; sys.path.insert(0, {REMOTE!r}); from agent import ownership; print('up'); "
            "print(json.dumps(ownership.forget(sys.argv[1], True)))"
        )
        others: list[subprocess.Popen[bytes]] = []
        step = getattr(module, name)

        def overtaken(*given: Any) -> Any:
            others.append(self.spawn(program, self.ids[1]))
            # As far as it comes in that time.
            time.sleep(0.5)
            return step(*given)

        with mock.patch.object(module, name, overtaken):
            mine = ownership.forget(self.ids[0], True)
        (other,) = others
        # Before its result it tells that it waits.
        return [mine, json.loads(other.communicate(timeout=30)[0].splitlines()[-1])]

    def test_one_whose_end_was_cut_off_uses_what_it_did(self) -> None:
        self.shared(KEY, OTHER_KEY)
        child = self.spawn("print('up')")
        child.wait()
        mark = {"pid": child.pid, "startTicks": 1, "bootId": processes.boot_id()}
        (paths.server_folder(self.ids[1]) / "forgetting.json").write_text(json.dumps(mark))
        why = f"6 files of org/m@{SHA[:12]}: used by server {self.ids[1]} of shop/prod"
        self.assertEqual({"freedBytes": 0, "kept": [why]}, ownership.forget(self.ids[0], True))

    def test_a_folder_of_the_user_is_never_removed(self) -> None:
        (self.home / "model").mkdir()
        (paths.server_folder(self.ids[0]) / "launch.json").write_text(
            json.dumps(launch(str(self.home / "model")))
        )
        kept = ownership.forget(self.ids[0], True)
        why = f"{self.home / 'model'}: it was not downloaded for this server"
        self.assertEqual({"freedBytes": 0, "kept": [why]}, kept)
        self.assertTrue((self.home / "model").is_dir())

    def test_files_that_somebody_else_put_beside_them_stay(self) -> None:
        self.fetch(0)
        (self.snapshot() / "notes.txt").write_text("mine")
        size = self.bytes()
        kept = ownership.forget(self.ids[0], True)
        why = f"1 file of org/m@{SHA[:12]}: not selected by this server"
        self.assertEqual({"freedBytes": size, "kept": [why]}, kept)
        self.assertEqual(["notes.txt"], os.listdir(self.snapshot()))

    def test_a_download_that_nobody_wants_any_more_ends_with_its_server_and_leaves_no_parts(self) -> None:
        self.hub.faults.set([{"kind": "stall", "file": SHARDS[3], "afterBytes": 1000}])
        child, _ = self.follower(0)
        self.until(lambda: list(self.repo().rglob("*.incomplete")) and self.clients())
        os.killpg(child.pid, signal.SIGKILL)
        ownership.forget(self.ids[0])
        self.assertEqual([], self.clients())
        self.assertEqual([], list(self.repo().rglob("*.incomplete")))


def launch(model: str) -> dict[str, Any]:
    return {
        "fingerprint": "f1",
        "executable": "/opt/vllm",
        "modelPath": model,
        "checkpointWish": model,
        "listen": {"address": "127.0.0.1", "port": 1},
        "servedModelNames": [],
        "restart": {"max": 0, "withinSeconds": 0, "delaySeconds": 0},
    }
