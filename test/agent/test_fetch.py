"""fetch.py with the hub's real client: a checkpoint arrives whole and once, whatever is cut, and is not asked for again."""

from __future__ import annotations

import os
import shutil
import signal
from typing import Any, ClassVar

from agent import (
    checkpoint,
    checkpoint_record,
    checkpoint_use,
    hf_client,
    hub_room,
    job_use,
    processes,
    records,
)
from test.support.hub.repositories import repository

from .fetching import FILES, INDEX, KEY, SHA, SHARD_BYTES, SHARDS, FetchCase, kill

OTHER = "b" * 40


class FetchTest(FetchCase):
    repositories: ClassVar[dict[str, Any]] = {
        "org/m": {
            "revisions": [
                {
                    "sha": SHA,
                    "refs": ["main"],
                    "files": {**FILES, "original/consolidated.pth": {"zeros": 99_000}},
                },
                {"sha": OTHER, "refs": [], "files": FILES},
            ]
        }
    }

    def test_what_vllm_loads_arrives_and_is_on_record_and_seen(self) -> None:
        self.assertFalse(checkpoint.look(f"checkpoints/{KEY}")["found"])
        found = self.fetch()
        seconds = found.pop("seconds")
        self.assertGreater(seconds, 0)
        size = self.record_bytes()
        wanted = {
            "revision": SHA,
            "path": str(self.snapshot()),
            "files": 6,
            "bytes": size,
            "fetchedBytes": size,
            "refetched": [],
            "hashed": 0,
            "unhashed": [],
        }
        self.assertEqual(wanted, found)
        self.assertEqual(sorted(FILES), sorted(os.listdir(self.snapshot())))
        seen = checkpoint.look(f"checkpoints/{KEY}")
        self.assertEqual(
            (True, str(self.snapshot()), 4, 4 * SHARD_BYTES, SHA, f"checkpoints/{KEY}"),
            tuple(seen[name] for name in ("found", "path", "weightFiles", "weightBytes", "revision", "wish")),
        )
        self.assertEqual(dict.fromkeys(sorted(FILES), 1), self.gets())
        self.assertEqual(
            {"download"}, {event["phase"] for event in self.told if event["event"] == "progress"}
        )

    def record_bytes(self) -> int:
        return sum(file["size"] for file in self.record_of()["files"])

    def test_what_is_there_needs_neither_network_nor_client_nor_job(self) -> None:
        self.fetch()
        self.hub.go_away()
        (self.bin / "hf").unlink()
        found = self.fetch()
        self.assertEqual((SHA, 0, []), (found["revision"], found["fetchedBytes"], found["refetched"]))
        found = self.fetch(verify="full")
        self.assertEqual(0, found["fetchedBytes"])
        self.hub.come_back()

    def test_a_branch_stays_where_it_was_resolved_to(self) -> None:
        self.fetch()
        self.hub.move("org/m", "main", OTHER)
        self.assertEqual(SHA, self.fetch()["revision"])
        checkpoint_record.file_of(KEY).unlink()
        self.assertEqual(SHA, self.fetch(resolved=SHA)["revision"])
        found = self.fetch(key="1" * 16)
        self.assertEqual((OTHER, 0), (found["revision"], found["fetchedBytes"]))

    def test_two_servers_that_want_it_get_it_by_one_download(self) -> None:
        self.hub.faults.set([{"kind": "throttle", "bytesPerSecond": 400_000}])
        _, first = self.follower(0)
        self.until(lambda: self.hub.counts.bytes() > 0)
        _, second = self.follower(1, key="1" * 16, verify="full")
        both = [first(), second()]
        self.assertEqual([SHA, SHA], [found.get("revision") for found in both], both)
        self.assertEqual(dict.fromkeys(sorted(FILES), 1), self.gets())
        self.assertEqual([[], []], [job_use.wanted_by(server_id) for server_id in self.ids])

    def test_it_goes_on_when_the_agent_is_cut_off_and_the_next_one_follows_it(self) -> None:
        self.hub.faults.set([{"kind": "throttle", "bytesPerSecond": 400_000}])
        child, _ = self.follower()
        self.until(lambda: self.hub.counts.bytes() > 0)
        os.killpg(child.pid, signal.SIGKILL)
        found = self.fetch()
        self.assertEqual(self.record_bytes(), found["fetchedBytes"])
        self.assertEqual(dict.fromkeys(sorted(FILES), 1), self.gets())

    def test_a_job_that_is_killed_takes_the_client_with_it_and_what_is_whole_is_not_fetched_again(
        self,
    ) -> None:
        self.hub.faults.set([{"kind": "stall", "file": SHARDS[3], "afterBytes": 1000}])
        _, result = self.follower()
        self.until(self.all_but_one_are_there)
        clients = self.clients()
        kill(self.job_pid())
        self.until_gone(clients)
        self.hub.faults.set([])
        self.assertEqual([], result()["refetched"])
        self.assertEqual({**dict.fromkeys(sorted(FILES), 1), SHARDS[3]: 2}, self.gets())
        self.assertEqual([], self.clients())

    def test_a_client_that_is_killed_is_started_again(self) -> None:
        self.hub.faults.set([{"kind": "stall", "file": SHARDS[3], "afterBytes": 1000}])
        _, result = self.follower()
        self.until(self.all_but_one_are_there)
        clients = self.clients()
        kill(clients[0].pid)
        self.until_gone(clients[:1])
        self.hub.faults.set([])
        self.assertEqual(SHA, result()["revision"])
        self.assertEqual({**dict.fromkeys(sorted(FILES), 1), SHARDS[3]: 2}, self.gets())

    def until_gone(self, clients: list[Any]) -> None:
        """Before the hub sends what they wait for: in their last moment they could still take it."""
        self.until(lambda: not any(processes.is_same(one.pid, one.start_ticks) for one in clients))

    def all_but_one_are_there(self) -> bool:
        """And that one is under way."""
        whole = sum((self.snapshot() / name).exists() for name in FILES)
        return whole == len(FILES) - 1 and self.gets().get(SHARDS[3]) == 1

    def test_a_hub_that_goes_away_for_a_while_costs_less_than_a_file_of_each_stream(self) -> None:
        self.hub.faults.set([{"kind": "throttle", "bytesPerSecond": 500_000}])
        _, result = self.follower()
        self.until(lambda: self.hub.counts.bytes() > SHARD_BYTES)
        self.hub.go_away()
        self.hub.come_back()
        self.hub.faults.set([])
        self.assertEqual(SHA, result()["revision"])
        self.assertLess(self.hub.counts.bytes(), self.record_bytes() + 4 * SHARD_BYTES)

    def test_a_shard_that_arrives_damaged_is_fetched_again_alone(self) -> None:
        # In its header, which is seen, and in its tensors, which only a hash shows.
        for at, verify in ((9, "headers"), (300_000, "full")):
            with self.subTest(verify=verify):
                self.forget_all()
                fault = {"kind": "corrupt", "file": SHARDS[1], "atByte": at, "times": 1}
                self.hub.faults.set([fault])
                found = self.fetch(verify=verify)
                self.assertEqual([SHARDS[1]], found["refetched"])
                self.assertEqual({**dict.fromkeys(sorted(FILES), 1), SHARDS[1]: 2}, self.gets())

    def forget_all(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        self.hub.counts.clear()

    def test_a_shard_that_is_damaged_twice_is_an_error_with_its_name(self) -> None:
        self.hub.faults.set([{"kind": "corrupt", "file": SHARDS[1], "atByte": 9}])
        found = self.refused()
        self.assertEqual("CHECKPOINT_CORRUPT", found.code)
        self.assertEqual(f"{SHARDS[1]}: its header is damaged", found.evidence)

    def test_a_shard_that_was_cut_short_on_the_disk_is_fetched_again_alone(self) -> None:
        self.fetch()
        self.hub.counts.clear()
        os.truncate(self.blob(SHARDS[2]), 1000)
        self.assertFalse(checkpoint.look(f"checkpoints/{KEY}")["found"])
        found = self.fetch()
        self.assertEqual(([SHARDS[2]], SHARD_BYTES), (found["refetched"], found["fetchedBytes"]))
        self.assertEqual({SHARDS[2]: 1}, self.gets())
        self.assertEqual(SHARD_BYTES, (self.snapshot() / SHARDS[2]).stat().st_size)

    def test_a_swapped_shard_is_named_by_its_hash_which_is_counted_once(self) -> None:
        self.fetch(verify="full")
        blob = self.blob(SHARDS[0])
        blob.unlink()
        blob.write_bytes(self.blob(SHARDS[1]).read_bytes())
        self.hub.counts.clear()
        self.assertEqual([], self.fetch()["refetched"])
        self.assertEqual([SHARDS[0]], self.fetch(verify="full")["refetched"])
        self.assertEqual({SHARDS[0]: 1}, self.gets())
        memory = next(checkpoint_record.folder().glob("hashes-*.json"))
        before = memory.stat().st_mtime_ns
        self.fetch(verify="full")
        self.assertEqual(before, memory.stat().st_mtime_ns)

    def test_a_broken_shard_in_a_store_that_repositories_share_is_fetched_and_the_store_left_alone(
        self,
    ) -> None:
        self.fetch()
        self.hub.counts.clear()
        blob = self.blob(SHARDS[0])
        stored = self.share(blob)
        os.chmod(stored, 0o644)
        with open(stored, "r+b") as file:
            file.seek(300_000)
            file.write(b"x")
        broken = stored.read_bytes()
        self.assertEqual([SHARDS[0]], self.fetch(verify="full")["refetched"])
        self.assertEqual(({SHARDS[0]: 1}, False), (self.gets(), blob.is_symlink()))
        self.assertEqual(broken, stored.read_bytes())

    def test_a_stall_ends_with_a_client_begun_anew(self) -> None:
        self.hub.faults.set([{"kind": "stall", "file": SHARDS[0], "afterBytes": 1000, "times": 1}])
        found = self.fetch(stallSeconds=6)
        self.assertEqual(SHA, found["revision"])
        self.assertEqual({**dict.fromkeys(sorted(FILES), 1), SHARDS[0]: 2}, self.gets())

    def test_parts_that_a_killed_client_left_are_removed_and_those_of_a_living_one_are_not(self) -> None:
        self.fetch()
        blobs = self.cache / "models--org--m" / "blobs"
        stale, live = (blobs / f"{letter * 64}.0a1b2c3d.incomplete" for letter in "de")
        for path in (stale, live):
            path.write_bytes(b"part")
        lock = self.cache / ".locks" / "models--org--m" / ("e" * 64 + ".lock")
        code = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('up'); sys.stdin.read()"
        self.spawn(code, str(lock))
        os.truncate(self.blob(SHARDS[2]), 1000)
        self.fetch()
        self.assertEqual((False, True), (stale.exists(), live.exists()))
        live.unlink()

    def test_where_there_are_cores_for_it_clients_share_the_files(self) -> None:
        self.keep(hf_client, "MOST_CLIENTS", 2)
        self.keep(os, "sched_getaffinity", lambda _pid: {0, 1, 2})
        self.assertEqual(SHA, self.fetch()["revision"])
        self.assertEqual(dict.fromkeys(sorted(FILES), 1), self.gets())

    def test_files_of_another_revision_are_linked_and_not_fetched(self) -> None:
        self.fetch()
        self.hub.counts.clear()
        found = self.fetch(key="1" * 16, revision=OTHER)
        self.assertEqual((OTHER, 0), (found["revision"], found["fetchedBytes"]))
        self.assertEqual({}, self.gets())

    def test_a_disk_that_is_too_small_by_a_megabyte_is_told_with_what_nobody_uses(self) -> None:
        self.fetch()
        left = hub_room.told_size(self.record_bytes())
        checkpoint_use.drop_all(self.ids[0])
        # Others write to this disk and free room on it meanwhile.
        free = records.free_bytes(self.home)
        self.keep(records, "free_bytes", lambda _path: free)
        missing = free - hub_room.MARGIN_BYTES + 1_000_000
        self.hub.repositories["org/big"] = self.big(missing)
        found = self.refused(repo="org/big")
        self.assertEqual("DISK_FULL", found.code)
        self.assertIn(
            f": {missing} bytes are missing and {free} are free, need 1000000 bytes ", found.summary
        )
        self.assertEqual(
            f"cached revisions that no server here uses: {self.snapshot()} ({left})", found.evidence
        )
        self.assertTrue(self.snapshot().exists())

    def big(self, size: int) -> Any:
        file = {"safetensors": size, "namedHash": True}
        return repository(
            "org/big", {"revisions": [{"refs": ["main"], "files": {"model.safetensors": file}}]}
        )

    def test_an_index_that_names_a_shard_that_is_not_selected_is_an_error(self) -> None:
        found = self.refused(exclude=[SHARDS[3]])
        self.assertEqual("CHECKPOINT_CORRUPT", found.code)
        self.assertEqual(
            f"{SHARDS[3]}: model.safetensors.index.json names it and it is not there", found.evidence
        )
        self.assertEqual(4, len(INDEX["weight_map"]))
