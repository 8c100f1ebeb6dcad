"""fetch.py where the hub or its client refuses: each refusal is told by its name, and no token is seen anywhere."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, ClassVar

from agent import download, hf_client, paths

from .fetching import FILES, SHA, SHARDS, FetchCase

RIGHT = "hf_right-4711"
GATED = {
    "org/m": {"gated": True, "tokens": [RIGHT], "revisions": [{"sha": SHA, "refs": ["main"], "files": FILES}]}
}

# Notes how it was called; then does what the next of `acts` says: print a text and fail, or begin a file and wait for its end.
ACTING = """#!%s -IS
import json, os, sys, time
home = os.environ["HOME"]
acts = json.load(open(home + "/acts"))
number = 0
while True:
    try:
        note = os.open(home + "/calls/%%d" %% number, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        break
    except FileExistsError:
        number += 1
with os.fdopen(note, "w") as file:
    json.dump({"argv": sys.argv[1:], "environment": dict(os.environ)}, file)
act = acts[min(number, len(acts) - 1)]
place = os.environ["HF_HUB_CACHE"] + "/models--org--m/"
os.makedirs(place + "blobs", exist_ok=True)
print(act.get("says", ""), file=sys.stderr)
if act.get("part"):
    with open(place + "blobs/" + act["part"] + ".0a1b2c3d.incomplete", "wb") as file:
        file.write(bytes(1000))
if act.get("waits"):
    time.sleep(600)
sys.exit(act.get("code", 0))
"""


class GatedTest(FetchCase):
    repositories: ClassVar[dict[str, Any]] = GATED

    def test_a_gated_repository_needs_the_right_token_which_is_then_seen_nowhere(self) -> None:
        found = [self.refused(), self.refused(token="hf_wrong-0815"), self.refused(token="hf_expired")]
        self.assertEqual(["HUB_GATED"] * 3, [failure.code for failure in found])
        self.assertEqual(3, len({failure.summary for failure in found}))
        self.assertEqual(SHA, self.fetch(token=RIGHT)["revision"])
        self.assertEqual(RIGHT in "".join(map(str, self.told)), False)
        for path in paths.state_root().rglob("*"):
            if path.is_file():
                self.assertNotIn(RIGHT.encode(), path.read_bytes(), str(path))

    def test_the_token_of_the_login_is_used_where_none_is_declared(self) -> None:
        self.profile(HF_TOKEN=RIGHT)
        self.assertEqual(SHA, self.fetch()["revision"])


class ActingClientTest(FetchCase):
    client = None

    def setUp(self) -> None:
        super().setUp()
        (self.home / "calls").mkdir()
        self.program("hf", ACTING % os.path.realpath(sys.executable))
        self.keep(download, "PAUSES_SECONDS", (0.0, 0.0, 0.0))
        self.keep(download, "LOOK_SECONDS", 0.05)

    def acts(self, *acts: dict[str, Any]) -> None:
        (self.home / "acts").write_text(json.dumps(acts))

    def calls(self) -> list[dict[str, Any]]:
        return [
            json.loads((self.home / "calls" / name).read_text())
            for name in sorted(os.listdir(self.home / "calls"))
        ]

    def test_three_stalls_are_an_error_with_the_numbers_and_the_last_try_is_without_xet(self) -> None:
        self.acts({"waits": True, "part": "d" * 64})
        found = self.refused(stallSeconds=0.5)
        self.assertEqual(("DOWNLOAD_STALLED", True), (found.code, found.retryable))
        self.assertRegex(
            found.summary,
            r"^Cannot download org/m@a{12}: no byte came for 0.5 s, 3 times in a row, the last time without Xet; 0 of 6 files and "
            r"0 bytes of 1\.6 MB are there, need a hub that goes on sending$",
        )
        self.assertEqual(
            [None, None, "1"], [call["environment"].get("HF_HUB_DISABLE_XET") for call in self.calls()]
        )

    def test_what_the_client_takes_by_xet_alone_is_asked_for_by_xet_to_the_last(self) -> None:
        sizes = {file.path: file.content.size_bytes for file in self.files()}
        self.keep(hf_client, "LARGEST_PLAIN_BYTES", sizes[SHARDS[0]] - 1)
        self.acts({"waits": True})
        found = self.refused(stallSeconds=0.5)
        self.assertIn(
            f"the last time without Xet but for {SHARDS[0]} (400 kB) and 3 more: above 400 kB the client knows no other way; ",
            found.summary,
        )
        by_xet = [
            sorted(call["argv"][7:])
            for call in self.calls()
            if call["environment"].get("HF_HUB_DISABLE_XET") is None
        ]
        plain = [
            sorted(call["argv"][7:])
            for call in self.calls()
            if call["environment"].get("HF_HUB_DISABLE_XET") == "1"
        ]
        self.assertEqual([sorted(FILES), sorted(FILES), SHARDS], by_xet)
        self.assertEqual([sorted(set(FILES) - set(SHARDS))], plain)

    def files(self) -> list[Any]:
        return list(self.hub.repositories["org/m"].revision("main").files.values())

    def test_a_client_that_gives_up_sooner_than_was_declared_does_not_end_the_wait(self) -> None:
        # As it prints when the hub falls silent: its frames have numbers that look like refusals.
        says = (
            "Error while downloading from http://hub/a: timed out\nTrying to resume download...\n"
            'Traceback (most recent call last):\n  File "/x/concurrent/futures/_base.py", line 401, in __get_result\n'
            "    raise self._exception\nTimeoutError: timed out"
        )
        self.acts(*[{"says": says, "code": 1}] * 3, {"waits": True})
        found = self.refused(stallSeconds=2)
        self.assertEqual(("DOWNLOAD_STALLED", True), (found.code, found.retryable))
        calls = self.calls()
        self.assertGreater(len(calls), 3)
        is_without_xet = [call["environment"].get("HF_HUB_DISABLE_XET") == "1" for call in calls]
        self.assertEqual([False, True], [is_without_xet[0], is_without_xet[-1]])

    def test_a_hub_that_is_silent_for_all_of_the_clients_is_an_error_in_the_end(self) -> None:
        self.acts({"says": "httpx.ReadTimeout: timed out", "code": 1})
        found = self.refused(stallSeconds=1)
        self.assertEqual("DOWNLOAD_STALLED", found.code)
        self.assertGreater(len(self.calls()), 3)

    def test_the_client_gets_names_as_they_are_and_its_token_by_its_environment_only(self) -> None:
        self.acts({"says": "OSError: [Errno 28] No space left on device", "code": 1})
        found = self.refused(token="hf_abc-123", include=["config.json", "model-00001*"])
        self.assertEqual("DISK_FULL", found.code)
        (call,) = self.calls()
        wanted = [
            "download",
            "--revision",
            SHA,
            "--max-workers",
            "8",
            "--",
            "org/m",
            SHARDS[0],
            "config.json",
        ]
        self.assertEqual(wanted, call["argv"])
        environment = call["environment"]
        self.assertEqual(
            ("hf_abc-123", self.hub.url, str(self.cache), "1"),
            tuple(
                environment[name]
                for name in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_CACHE", "HF_HUB_DISABLE_SHARED_BLOBS")
            ),
        )
        self.assertNotIn("SSH_CONNECTION", environment)
        # What it frees it gets again at once: 32 MiB, and 128 MiB.
        self.assertEqual(
            ("33554432", "134217728"),
            (environment["MALLOC_MMAP_THRESHOLD_"], environment["MALLOC_TRIM_THRESHOLD_"]),
        )

    def test_where_one_of_the_clients_is_refused_for_good_the_others_are_ended(self) -> None:
        self.keep(hf_client, "MOST_CLIENTS", 2)
        self.keep(os, "sched_getaffinity", lambda _pid: set(range(64)))
        self.acts({"waits": True}, {"says": "OSError: [Errno 28] No space left on device", "code": 1})
        self.assertEqual("DISK_FULL", self.refused().code)
        calls = self.calls()
        self.assertEqual(
            ["4", "4"], [call["argv"][call["argv"].index("--max-workers") + 1] for call in calls]
        )
        self.assertEqual(sorted(FILES), sorted(name for call in calls for name in call["argv"][7:]))

    def test_the_words_of_the_client_lead_to_the_code(self) -> None:
        rows = (
            ("Error: Access denied. Repository 'org/m' requires approval.", "HUB_GATED", 1),
            ("Error: Model 'org/m' not found.", "HUB_REPO_NOT_FOUND", 1),
            ("Error: Revision not found in repository 'org/m'.", "HUB_REVISION_NOT_FOUND", 1),
            ("Client error '429 Too Many Requests' for url", "HUB_RATE_LIMITED", 4),
            ("httpx.ConnectError: [Errno 111] Connection refused", "HUB_UNREACHABLE", 4),
            ("PermissionError: [Errno 13] Permission denied: '/x'", "PERMISSION_DENIED", 1),
            (
                "ValueError: The file is too large to be downloaded using the regular download method. ",
                "DOWNLOAD_FAILED",
                1,
            ),
            ("Client error '401 Unauthorized' for url", "HUB_REPO_NOT_FOUND", 1),
            ("Traceback: what is this on line 401", "DOWNLOAD_FAILED", 4),
        )
        for says, code, calls in rows:
            with self.subTest(says=says):
                for call in (self.home / "calls").iterdir():
                    call.unlink()
                self.acts({"says": "Downloading\n\x1b[31m" + says, "code": 1})
                found = self.refused()
                self.assertEqual(
                    (code, says.strip(), calls),
                    (found.code, str(found.evidence).replace("\x1b[31m", ""), len(self.calls())),
                )

    def test_a_host_that_is_to_stay_offline_says_so_at_once(self) -> None:
        self.profile(HF_HUB_OFFLINE="1")
        self.acts({"code": 1})
        self.assertEqual("HUB_UNREACHABLE", self.refused().code)
        self.assertEqual([], self.calls())
