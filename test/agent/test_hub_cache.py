"""hub_cache.py and hub_flow.py: what of a checkpoint is in the cache, what is left over, and how far a download is."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from agent import hub_blob, hub_cache, hub_flow, hub_room, paths
from agent.hub_cache import File, Snapshot

from .bed import HostCase

ONE, TWO = File("config.json", 3, "c" * 40), File("sub/model.safetensors", 10, "d" * 64)


class HubCacheTest(HostCase):
    def setUp(self) -> None:
        super().setUp()
        self.cache = self.home / "cache"
        self.snapshot = Snapshot(self.cache, "org/m", "a" * 40)

    def bring(self, file: File, size: int = -1, revision: str = "") -> Path:
        snapshot = self.snapshot if not revision else Snapshot(self.cache, "org/m", revision)
        pointer = snapshot.folder / file.path
        pointer.parent.mkdir(parents=True, exist_ok=True)
        snapshot.blobs.mkdir(exist_ok=True)
        (snapshot.blobs / file.blob).write_bytes(bytes(file.size if size < 0 else size))
        pointer.symlink_to(os.path.relpath(snapshot.blobs / file.blob, pointer.parent))
        return pointer

    def test_the_cache_is_where_the_client_of_that_login_has_it(self) -> None:
        rows = (
            (None, {}, self.home / ".cache" / "huggingface" / "hub"),
            (None, {"XDG_CACHE_HOME": "/x"}, Path("/x/huggingface/hub")),
            (None, {"XDG_CACHE_HOME": "/x", "HF_HOME": "~/hf"}, self.home / "hf" / "hub"),
            (None, {"HF_HUB_CACHE": "/c", "HF_HOME": "/hf"}, Path("/c")),
            ("~/mine", {"HF_HUB_CACHE": "/c"}, self.home / "mine"),
        )
        for declared, login, wanted in rows:
            self.assertEqual(wanted, hub_cache.folder(declared, login))

    def test_a_file_is_there_with_its_size_only(self) -> None:
        self.bring(ONE)
        self.bring(TWO, size=9)
        self.assertEqual([TWO], self.snapshot.missing([ONE, TWO]))

    def test_a_blob_that_another_revision_brought_is_not_missing(self) -> None:
        self.bring(TWO, revision="b" * 40)
        self.assertEqual([ONE, TWO], self.snapshot.missing([ONE, TWO]))
        self.assertEqual(ONE.size, self.snapshot.missing_bytes([ONE, TWO]))

    def test_a_file_of_a_wrong_size_goes_with_its_blob_and_is_named(self) -> None:
        self.bring(ONE)
        pointer = self.bring(TWO, size=9)
        self.assertEqual([TWO.path], self.snapshot.discard_wrong([ONE, TWO]))
        self.assertFalse(os.path.lexists(pointer))
        self.assertEqual([ONE.blob], os.listdir(self.snapshot.blobs))
        self.assertEqual([], self.snapshot.discard_wrong([ONE, TWO]))

    def test_a_blob_of_a_wrong_size_that_nothing_links_to_goes_unnamed(self) -> None:
        self.bring(TWO, size=9, revision="b" * 40)
        self.assertEqual([], self.snapshot.discard_wrong([TWO]))
        self.assertEqual([], os.listdir(self.snapshot.blobs))

    def test_what_a_link_leads_to_outside_of_the_cache_is_never_removed(self) -> None:
        own = self.home / "own"
        own.write_bytes(bytes(9))
        self.bring(ONE)
        pointer = self.snapshot.folder / "other.bin"
        pointer.symlink_to(own)
        self.assertEqual(["other.bin"], self.snapshot.discard_wrong([File("other.bin", 10, "e" * 64)]))
        self.assertEqual((False, True), (os.path.lexists(pointer), own.exists()))

    def test_parts_of_clients_that_go_on_with_them_stay(self) -> None:
        self.snapshot.blobs.mkdir(parents=True)
        for name in ("f" * 64 + ".incomplete", "f" * 64 + ".0a1b2c3d.incomplete", "f" * 64):
            (self.snapshot.blobs / name).write_bytes(bytes(7))
        self.assertEqual(7, self.snapshot.remove_stale())
        self.assertEqual(["f" * 64, "f" * 64 + ".incomplete"], sorted(os.listdir(self.snapshot.blobs)))

    def test_where_nothing_can_be_locked_parts_stay(self) -> None:
        self.snapshot.blobs.mkdir(parents=True)
        part = self.snapshot.blobs / ("f" * 64 + ".0a1b2c3d.incomplete")
        part.write_bytes(bytes(7))
        with mock.patch.object(hub_blob.fcntl, "flock", side_effect=OSError(95, "not supported")):
            self.assertEqual(0, self.snapshot.remove_stale())
        self.assertTrue(part.exists())

    def test_a_download_is_as_far_as_its_files_and_parts_are(self) -> None:
        self.bring(ONE)
        self.assertEqual((1, 3), (self.look().files, self.look().bytes))
        part = self.snapshot.blobs / (TWO.blob + ".0a1b2c3d.incomplete")
        part.write_bytes(bytes(4))
        before = self.look()
        self.assertEqual((1, 7), (before.files, before.bytes))
        # Xet's parts have their full size at once: only what is written of them counts.
        part.unlink()
        part.touch()
        os.truncate(part, TWO.size)
        self.assertEqual((1, 3), (self.look().files, self.look().bytes))
        self.assertNotEqual(before.trace, self.look().trace)

    def look(self) -> hub_flow.Seen:
        return hub_flow.look(self.snapshot, [ONE, TWO])

    def test_the_rate_is_smooth_and_never_negative(self) -> None:
        rate = hub_flow.Rate()
        with mock.patch.object(hub_flow.time, "monotonic", side_effect=[0.0, 1.0, 2.0, 3.0, 4.0]):
            told = [rate.add(total) for total in (0, 150, 300, 0, 150)]
        self.assertEqual([None, 150.0, 150.0, 150.0, 150.0], told)

    def test_the_seconds_before_the_first_byte_do_not_make_the_time_left_long(self) -> None:
        rate = hub_flow.Rate()
        with mock.patch.object(hub_flow.time, "monotonic", side_effect=[0.0, 1.0, 2.0, 3.0, 18.0]):
            told = [rate.add(total) for total in (100, 100, 100, 250, 250)]
        self.assertEqual([None, None, None, 150.0, 0.0], told)

    def test_revisions_that_nobody_here_uses_are_listed_with_what_only_they_have(self) -> None:
        self.bring(ONE)
        self.bring(TWO)
        other = Snapshot(self.cache, "org/m", "b" * 40)
        pointer = other.folder / ONE.path
        pointer.parent.mkdir(parents=True)
        pointer.symlink_to(self.snapshot.blobs / ONE.blob)
        both = [(str(self.snapshot.folder), TWO.size), (str(other.folder), 0)]
        self.assertEqual(both, hub_room.unreferenced(self.cache))
        launch = {"modelPath": str(self.snapshot.folder), "fingerprint": "x", "executable": "/x"}
        launch |= {"servedModelNames": [], "restart": {"max": 0, "withinSeconds": 0, "delaySeconds": 0}}
        self.record("chat-00000001", launch={**launch, "listen": {"address": "::1", "port": 1}})
        self.assertEqual([(str(other.folder), 0)], hub_room.unreferenced(self.cache))
        overlay = paths.overlays_folder() / "0a1b"
        overlay.mkdir(parents=True)
        (overlay / ONE.path).symlink_to(pointer)
        self.assertEqual([], hub_room.unreferenced(self.cache))

    def test_sizes_are_told_as_disks_are_sold(self) -> None:
        rows = {
            0: "0 bytes",
            999: "999 bytes",
            1500: "2 kB",
            2_500_000: "2.5 MB",
            4_000_000_000_000: "4.0 TB",
        }
        self.assertEqual(list(rows.values()), [hub_room.told_size(count) for count in rows])
