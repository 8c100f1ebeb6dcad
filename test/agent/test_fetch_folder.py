"""fetch_folder.py: a folder on the host is looked at and hashed as far as its hashes are known, and left as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from agent import blob_hash, checkpoint_record, checkpoint_use, job

from . import hub_client
from .fetching import FILES, HF, SHA, SHARD_BYTES, SHARDS, FetchCase

EDITED = '{"model_type": "mistral"}'


class FolderCase(FetchCase):
    client = None

    def setUp(self) -> None:
        super().setUp()
        self.model = self.home / "model"

    def look(self, **changes: Any) -> dict[str, Any]:
        return self.fetch(**self.local(**changes))

    def local(self, **changes: Any) -> dict[str, Any]:
        return {"key": None, "path": str(self.model), "verify": "full", "loadFormat": None, **changes}

    def corrupt(self) -> str:
        """The evidence."""
        failure = self.refused(**self.local())
        self.assertEqual("CHECKPOINT_CORRUPT", failure.code)
        self.assertEqual("copy it there again, or download it again", failure.change)
        return str(failure.evidence)

    def flip(self, path: Path) -> None:
        """One byte of the tensors, which no size and no header shows."""
        with open(path, "r+b") as file:
            file.seek(SHARD_BYTES - 1)
            file.write(b"x")


class PlainTest(FolderCase):
    def test_without_known_hashes_it_is_looked_at_and_none_is_claimed(self) -> None:
        self.model.mkdir()
        self.whole(self.model)
        (self.model / "config.json").write_text("{}")
        found = self.look()
        found.pop("seconds")
        nothing = {"revision": None, "fetchedBytes": 0, "refetched": [], "hashed": 0}
        unhashed = ["config.json", "model.safetensors"]
        self.assertEqual(
            {"path": str(self.model), "files": 1, "bytes": SHARD_BYTES, "unhashed": unhashed, **nothing},
            found,
        )
        self.assertEqual([], self.look(verify="headers")["unhashed"])
        os.truncate(self.model / "model.safetensors", SHARD_BYTES - 1)
        self.assertEqual(
            f"model.safetensors: it has {SHARD_BYTES - 1} bytes, its header says {SHARD_BYTES}",
            self.corrupt(),
        )
        self.assertEqual(1, self.look(loadFormat="dummy")["files"])

    def test_one_that_is_not_there_is_said_to_be_missing(self) -> None:
        self.assertEqual("CHECKPOINT_NOT_FOUND", self.refused(**self.local()).code)

    def whole(self, folder: Path) -> None:
        content = self.hub.repositories["org/m"].revision("main").files[SHARDS[0]].content
        whole = b""
        while len(whole) < content.size_bytes:
            whole += content.read(len(whole), content.size_bytes)
        (folder / "model.safetensors").write_bytes(whole)


class DownloadedTest(FolderCase):
    """What the real client has put there."""

    def setUp(self) -> None:
        if not HF.exists():
            self.skipTest(hub_client.MISSING)
        super().setUp()

    def download(self, *options: str) -> None:
        argv = [str(HF), "download", "org/m", *options]
        environment = hub_client.environment(self.hub.url, self.home)
        subprocess.run(argv, env=environment, check=True, capture_output=True)

    def cached(self) -> Path:
        """A snapshot of the client's cache, which is then what is declared."""
        self.download()
        self.model = self.home / "hf" / "hub" / "models--org--m" / "snapshots" / SHA
        return self.model

    def beside(self) -> Path:
        self.download("--local-dir", str(self.model))
        return self.model

    def test_a_snapshot_of_the_cache_knows_the_hashes_of_its_files(self) -> None:
        self.cached()
        found = self.look()
        self.assertEqual((len(FILES), []), (found["hashed"], found["unhashed"]))
        progress = [event for event in self.told if event["event"] == "progress"]
        self.assertEqual({"verify"}, {event["phase"] for event in progress})
        self.assertEqual([], list((self.state / "jobs").iterdir()))
        self.flip(Path(os.path.realpath(self.model / SHARDS[2])))
        self.assertEqual(0, self.look(verify="headers")["hashed"])
        self.assertRegex(
            self.corrupt(), rf"^{SHARDS[2]}: its hash is \w{{12}}\.\.\., the hub says \w{{12}}\.\.\.$"
        )

    def test_a_folder_of_links_into_the_cache_knows_them_too(self) -> None:
        """As an overlay is, and one whose config is a file of its own."""
        snapshot = self.cached()
        self.model = self.home / "links"
        self.model.mkdir()
        for name in FILES:
            (self.model / name).symlink_to(snapshot / name)
        (self.model / "README.md").symlink_to("nowhere")
        (self.model / "config.json").unlink()
        (self.model / "config.json").write_text(EDITED)
        found = self.look()
        self.assertEqual((len(FILES) - 1, ["config.json"]), (found["hashed"], found["unhashed"]))

    def test_a_folder_of_local_dir_knows_them_by_its_notes(self) -> None:
        self.beside()
        (self.model / "own.txt").write_text("mine")
        found = self.look()
        self.assertEqual((len(FILES), ["own.txt"]), (found["hashed"], found["unhashed"]))
        self.flip(self.model / SHARDS[1])
        self.assertRegex(self.corrupt(), f"^{SHARDS[1]}: its hash is ")

    def test_a_config_that_was_edited_since_is_its_owners_and_weights_never_are(self) -> None:
        self.beside()
        later = time.time() + 60
        (self.model / "config.json").write_text(EDITED)
        for name in ("config.json", SHARDS[0]):
            os.utime(self.model / name, (later, later))
        found = self.look()
        self.assertEqual((len(FILES) - 1, ["config.json"]), (found["hashed"], found["unhashed"]))
        self.flip(self.model / SHARDS[0])
        self.assertRegex(self.corrupt(), f"^{SHARDS[0]}: its hash is ")

    def test_a_note_that_is_none_and_an_etag_that_is_no_hash_tell_nothing(self) -> None:
        self.beside()
        notes = self.model / ".cache" / "huggingface" / "download"
        (notes / f"{SHARDS[0]}.metadata").write_text("damaged\n")
        note = notes / f"{SHARDS[1]}.metadata"
        commit, _etag, noted = note.read_text().splitlines()
        note.write_text(f"{commit}\n{'d' * 32}-5\n{noted}\n")
        found = self.look()
        self.assertEqual((len(FILES) - 2, SHARDS[:2]), (found["hashed"], found["unhashed"]))

    def test_a_copy_of_it_is_hashed_as_it_is(self) -> None:
        self.beside()
        copy = self.home / "copy"
        shutil.copytree(self.model, copy)
        self.model = copy
        self.assertEqual((len(FILES), []), tuple(self.look()[name] for name in ("hashed", "unhashed")))

    def test_it_is_hashed_once_and_that_is_remembered_for_as_long_as_a_server_is_started_from_it(
        self,
    ) -> None:
        self.cached()
        self.look()
        memory = checkpoint_record.hashes_file_of(self.model)
        before = memory.stat().st_mtime_ns
        self.look()
        self.assertEqual(before, memory.stat().st_mtime_ns)
        launch = {
            "fingerprint": "x",
            "executable": "/v",
            "modelPath": "/m",
            "checkpointWish": str(self.model),
        }
        self.record(self.ids[0], launch={**launch, "listen": {"address": "::1", "port": 1}})
        for server_id, is_kept in ((self.ids[1], True), (self.ids[0], False)):
            checkpoint_use.drop_all(server_id)
            self.assertEqual(is_kept, memory.exists())

    def test_a_file_that_cannot_be_read_is_named(self) -> None:
        self.cached()
        self.keep(blob_hash, "_start", _unreadable)
        failure = self.refused(**self.local())
        self.assertEqual("CHECKPOINT_NOT_FOUND", failure.code)
        self.assertIn("Input/output error", failure.summary)
        self.assertEqual("/the/file", failure.evidence)
        self.assertEqual([], [folder for folder in self._folders() if job.is_running(folder.name)])


def _unreadable(_digest: str, _size: int) -> Any:
    raise OSError(5, "Input/output error", "/the/file")
