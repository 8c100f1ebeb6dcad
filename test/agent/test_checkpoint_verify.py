"""checkpoint_verify.py: a checkpoint that is not whole is told by the names of its files, and why."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any, Optional
from unittest import mock

from agent import blob_hash, checkpoint_verify
from agent.checkpoint_verify import Bad, Expected

from .bed import HostCase

SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
INDEX = "model.safetensors.index.json"


def tensors(data_bytes: int = 16, end: Optional[int] = None) -> bytes:
    offsets = [0, data_bytes if end is None else end]
    header = json.dumps(
        {"__metadata__": {"format": "pt"}, "w": {"dtype": "U8", "data_offsets": offsets}}
    ).encode()
    return struct.pack("<Q", len(header)) + header + bytes(data_bytes)


class VerifyTest(HostCase):
    def setUp(self) -> None:
        super().setUp()
        self.model = self.home / "model"
        self.model.mkdir()
        for name in SHARDS:
            (self.model / name).write_bytes(tensors())
        self.index({"a": SHARDS[0], "b": SHARDS[1]})

    def index(self, weight_map: Any) -> None:
        (self.model / INDEX).write_text(json.dumps({"weight_map": weight_map}))

    def check(self, **how: Any) -> list[tuple[str, str]]:
        bad = checkpoint_verify.check(self.model, checkpoint_verify.of_folder(self.model), **how)
        return [(one.path, one.why) for one in bad]

    def test_a_whole_one_has_no_fault(self) -> None:
        self.assertEqual([], self.check())

    def test_each_fault_of_a_safetensors_file_is_told(self) -> None:
        whole = tensors()
        length = len(whole) - 16
        rows = (
            (whole[:-1], f"it has {len(whole) - 1} bytes, its header says {len(whole)}"),
            (whole + b"x", f"it has {len(whole) + 1} bytes, its header says {len(whole)}"),
            (whole[:20], f"it ends within its header (20 of {length} bytes)"),
            (b"\x08\0\0", "it has 3 bytes, too few for a safetensors header"),
            (b"", "it has 0 bytes, too few for a safetensors header"),
            (whole.replace(b"{", b"[", 1), "its header is damaged"),
            (struct.pack("<Q", 4) + b"true", "its header is damaged"),
            (
                b"version https://git-lfs",
                "its header would have 2336927755350992246 bytes: it is no safetensors file, or damaged",
            ),
        )
        for content, why in rows:
            (self.model / SHARDS[0]).write_bytes(content)
            self.assertEqual([(SHARDS[0], why)], self.check())

    def test_a_shard_that_the_index_names_must_be_there(self) -> None:
        (self.model / SHARDS[1]).unlink()
        self.assertEqual([(SHARDS[1], f"{INDEX} names it and it is not there")], self.check())
        (self.model / SHARDS[1]).symlink_to("nowhere")
        self.assertEqual([(SHARDS[1], "it is a link to nowhere")], self.check())

    def test_an_index_of_a_format_that_was_left_out_promises_nothing(self) -> None:
        (self.model / "pytorch_model.bin.index.json").write_text(
            '{"weight_map": {"a": "pytorch_model-1.bin"}}'
        )
        self.assertEqual([], self.check())
        for name in SHARDS:
            (self.model / name).unlink()
        self.assertEqual(3, len(self.check()))

    def test_an_index_that_is_none_is_a_fault_and_one_without_shards_is_not(self) -> None:
        (self.model / INDEX).write_text("{")
        self.assertEqual([(INDEX, "it is no index of shards: damaged JSON")], self.check())
        (self.model / INDEX).write_text("{}")
        self.assertEqual([], self.check())

    def test_sizes_are_those_that_the_hub_told(self) -> None:
        files = [Expected(SHARDS[0], 5), Expected("config.json", 2)]
        size = len(tensors())
        wanted = [
            Bad("config.json", "it is not there"),
            Bad(SHARDS[0], f"it has {size} bytes, the hub says 5"),
        ]
        self.assertEqual(wanted, checkpoint_verify.check(self.model, files))

    def hashed(self, *digests: str) -> list[Bad]:
        files = [Expected(name, None, digest) for name, digest in zip(SHARDS, digests)]
        return checkpoint_verify.check(self.model, files, self.home / "hashes.json")

    def digests(self) -> tuple[str, str]:
        """As LFS has it, and as git has it."""
        whole = tensors()
        git = hashlib.sha1(b"blob %d\0" % len(whole) + whole).hexdigest()
        return hashlib.sha256(whole).hexdigest(), git

    def test_every_byte_counts_where_hashes_are_wanted(self) -> None:
        self.assertEqual([], self.hashed(*self.digests()))
        (self.model / SHARDS[1]).write_bytes(tensors()[:-1] + b"x")
        (bad,) = self.hashed(*self.digests())
        self.assertEqual(SHARDS[1], bad.path)
        self.assertRegex(bad.why, r"^its hash is [0-9a-f]{12}\.\.\., the hub says [0-9a-f]{12}\.\.\.$")

    def test_a_hash_is_counted_once_for_as_long_as_the_file_is_what_it_was(self) -> None:
        digests = self.digests()
        self.hashed(*digests)
        with mock.patch.object(blob_hash, "_start", side_effect=AssertionError):
            self.assertEqual([], self.hashed(*digests))
        for change in (self.touched, self.replaced):
            with self.subTest(change=change.__name__):
                change(self.model / SHARDS[0])
                with mock.patch.object(blob_hash, "_start", wraps=blob_hash._start) as start:
                    self.assertEqual([], self.hashed(*digests))
                self.assertEqual(1, start.call_count)

    def touched(self, path: Path) -> None:
        os.utime(path, ns=(1, 1))

    def replaced(self, path: Path) -> None:
        beside = path.with_name("beside")
        beside.write_bytes(path.read_bytes())
        os.utime(beside, ns=(1, 1))
        os.replace(beside, path)

    def test_a_file_that_cannot_be_read_is_a_fault_of_its_own(self) -> None:
        (self.model / SHARDS[0]).unlink()
        (self.model / SHARDS[0]).mkdir()
        self.assertEqual((SHARDS[0], "it cannot be read: Is a directory"), self.check()[0])
