"""hub_known.py: a commit that somebody has brought to the cache already is served without a hub."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from agent import hub_known
from agent.hub_cache import Snapshot

from .fetching import FILES, HF, SHA, SHARDS, FetchCase


class HubKnownTest(FetchCase):
    def setUp(self) -> None:
        super().setUp()
        self.by_hand()
        self.hub.counts.clear()
        self.hub.go_away()

    def by_hand(self) -> None:
        """As a user of the host downloads it, which notes the branch too."""
        told = {"HOME": str(self.home), "HF_ENDPOINT": self.hub.url, "HF_HUB_DISABLE_TELEMETRY": "1"}
        environment = {**os.environ, **told, "HF_HUB_CACHE": str(self.cache)}
        subprocess.run([str(HF), "download", "org/m"], env=environment, check=True, capture_output=True)

    def test_a_commit_of_which_all_is_there_is_asked_for_nowhere(self) -> None:
        found = self.fetch(revision=SHA)
        self.assertEqual((SHA, 6, 0), (found["revision"], found["files"], found["fetchedBytes"]))
        self.assertEqual(sorted(FILES), [file["path"] for file in self.record_of()["files"]])
        self.assertEqual([], self.hub.counts.requests())

    def test_what_is_selected_has_to_be_there_and_no_more(self) -> None:
        (self.snapshot() / SHARDS[2]).unlink()
        self.assertEqual("HUB_UNREACHABLE", self.refused(revision=SHA).code)
        found = self.fetch(revision=SHA, include=["config.json"], loadFormat="dummy")
        self.assertEqual(1, found["files"])

    def test_a_branch_is_asked_for(self) -> None:
        self.assertEqual("HUB_UNREACHABLE", self.refused(revision="main").code)

    def test_unless_the_host_is_to_stay_offline(self) -> None:
        self.profile(HF_HUB_OFFLINE="1")
        for server, revision in ((0, "main"), (1, None)):
            self.assertEqual(SHA, self.fetch(server, revision=revision, key=str(server) * 16)["revision"])
        self.assertEqual("HUB_UNREACHABLE", self.refused(revision="v9").code)

    def test_a_note_that_is_none_says_nothing(self) -> None:
        snapshot = Snapshot(self.cache, "org/m", SHA)
        note = snapshot.repo_folder / "trees" / f"{SHA}.json"
        right = json.loads(note.read_text())
        self.assertEqual(sorted(FILES), sorted(file.path for file in hub_known.files(snapshot) or []))
        outside: dict[str, Any] = {"../../../x": {"size": 1, "blob_id": "a" * 40}}
        for wrong in ({**right, "format_version": 2}, {**right, "files": outside}, {"format_version": 1}, []):
            with self.subTest(wrong=wrong):
                note.write_text(json.dumps(wrong))
                self.assertIsNone(hub_known.files(snapshot))
        note.write_text("{")
        self.assertEqual("HUB_UNREACHABLE", self.refused(revision=SHA).code)
        for name in ("../main", "/etc/hostname", "nothing"):
            self.assertIsNone(hub_known.commit_of(Snapshot(self.cache, "org/m", name)))
