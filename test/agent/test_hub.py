"""hub.py against a hub on this machine: a checkpoint is resolved and listed, and each refusal has its own name."""

import socket
import time

from agent import hub, hub_http
from agent.failure import AgentFailure
from agent.hub_cache import File
from test.support.hub import Hub

from .bed import HostCase

SHA = "a" * 40
OLD = "b" * 40
CONFIG = {
    "repositories": {
        "org/m": {
            "revisions": [
                {
                    "sha": SHA,
                    "refs": ["main", "team/next"],
                    "files": {
                        "config.json": "{}",
                        "sub folder/a&b.txt": "text",
                        "model.safetensors": {"safetensors": 4096},
                    },
                },
                {"sha": OLD, "refs": ["v1"], "files": {"config.json": "{}"}},
            ]
        },
        "org/gated": {"gated": True, "tokens": ["hf_right"], "revisions": [{"files": {"config.json": "{}"}}]},
        "org/private": {
            "private": True,
            "tokens": ["hf_right"],
            "revisions": [{"files": {"config.json": "{}"}}],
        },
        "org/old-name": {"movedTo": "org/private"},
    },
    "invalidTokens": ["hf_expired"],
    "pageEntries": 2,
    "cdn": True,
}
# git hash-object of {} and of text.
EMPTY_OBJECT = "9e26dfeeb6e641a33dae4961196235bdb965b21b"
TEXT = "f3a34851d44d6b97c90fbb99dd3d18c261b9a237"


class HubTest(HostCase):
    def setUp(self):
        super().setUp()
        self.hub = Hub(CONFIG)
        self.hub.__enter__()
        self.addCleanup(self.hub.__exit__)
        pauses = hub_http.PAUSES_SECONDS
        self.addCleanup(setattr, hub_http, "PAUSES_SECONDS", pauses)
        hub_http.PAUSES_SECONDS = (0.0, 0.0)

    def client(self, token=None, endpoint=None, **environment):
        return hub_http.Hub(endpoint or self.hub.url, token, environment)

    def failure(self, ask, *arguments):
        with self.assertRaises(AgentFailure) as caught:
            ask(*arguments)
        told = caught.exception.to_error()
        self.assertNotIn("hf_", str(told).replace("hf auth", ""))
        return caught.exception

    def host(self):
        return self.hub.url.partition("//")[2]

    def test_a_branch_a_tag_nothing_and_a_hash_become_a_commit(self):
        client = self.client()
        asked = [hub.resolve(client, "org/m", name) for name in (None, "main", "v1", "team/next", OLD)]
        self.assertEqual(asked, [SHA, SHA, OLD, SHA, OLD])

    def test_the_list_of_files_is_read_over_all_its_pages(self):
        files = hub.tree(self.client(), "org/m", SHA)
        blob = self.hub.repositories["org/m"].revisions[SHA].files["model.safetensors"].content.sha256()
        self.assertEqual(
            files,
            [
                File("config.json", 2, EMPTY_OBJECT),
                File("model.safetensors", 4096, blob),
                File("sub folder/a&b.txt", 4, TEXT),
            ],
        )
        self.assertEqual(len(self.hub.counts.requests()), 2)

    def test_a_file_is_read_wherever_it_lies(self):
        client = self.client()
        self.assertEqual(hub.read(client, "org/m", SHA, "sub folder/a&b.txt"), b"text")
        self.assertEqual(len(hub.read(client, "org/m", SHA, "model.safetensors")), 4096)

    def test_gated_files_are_told_before_a_download(self):
        def ask(token):
            client = self.client(token)
            sha = hub.resolve(client, "org/gated", None)
            hub.demand_access(client, "org/gated", sha, hub.tree(client, "org/gated", sha))

        ask("hf_right")
        missing = self.failure(ask, None)
        self.assertEqual(missing.code, "HUB_GATED")
        self.assertEqual(
            missing.summary,
            f"Cannot download org/gated from {self.host()}: its files are gated and no token was sent, "
            "need the token of an account that was given access",
        )
        self.assertIn("model.token", missing.change)
        wrong = self.failure(ask, "hf_wrong")
        self.assertEqual(wrong.code, "HUB_GATED")
        self.assertIn("the token's account has no access", wrong.summary)
        refused = self.failure(ask, "hf_expired")
        self.assertEqual(refused.code, "HUB_GATED")
        self.assertIn("the token is not accepted", refused.summary)

    def test_private_and_missing_are_one_answer_and_both_are_said(self):
        for repo in ("org/private", "org/none"):
            for token, whose in ((None, "without a token"), ("hf_other", "to the token's account")):
                told = self.failure(hub.resolve, self.client(token), repo, None)
                self.assertEqual(told.code, "HUB_REPO_NOT_FOUND")
                self.assertEqual(
                    told.summary,
                    f"Cannot find {repo} at {self.host()}: it does not exist, or is private and not shown {whose} "
                    "(the hub does not say which), need a repository that can be read",
                )
        self.assertEqual(len(hub.resolve(self.client("hf_right"), "org/private", None)), 40)

    def test_a_missing_revision_is_its_own_failure(self):
        for revision in ("v2", "c" * 40):
            told = self.failure(hub.resolve, self.client(), "org/m", revision)
            self.assertEqual(told.code, "HUB_REVISION_NOT_FOUND")
            self.assertIn(f"revision {revision} of org/m", told.summary)
        self.assertEqual(
            self.failure(hub.tree, self.client(), "org/m", "c" * 40).code, "HUB_REVISION_NOT_FOUND"
        )

    def test_the_token_follows_a_redirect_at_the_hub_and_never_to_another_host(self):
        client = self.client("hf_right")
        sha = hub.resolve(client, "org/old-name", None)
        self.assertEqual(sha, self.hub.sha("org/private"))
        hub.read(client, "org/m", SHA, "model.safetensors")
        hub.demand_access(client, "org/m", SHA, hub.tree(client, "org/m", SHA))
        self.assertEqual(self.hub.leaked_tokens, [])
        asked = [asked["method"] for asked in self.hub.counts.requests() if asked["host"] == "cdn"]
        self.assertEqual(asked, ["GET"])

    def test_a_limit_is_told_with_its_wait(self):
        self.hub.faults.set([{"kind": "status", "status": 429, "retryAfter": 77}])
        told = self.failure(hub.resolve, self.client(), "org/m", None)
        self.assertEqual((told.code, told.retryable), ("HUB_RATE_LIMITED", True))
        self.assertIn("need to wait 77 s", told.summary)
        self.assertEqual(len(self.hub.counts.requests()), 1)

    def test_a_hub_in_trouble_is_asked_three_times(self):
        self.hub.faults.set([{"kind": "status", "status": 503, "times": 2}])
        self.assertEqual(hub.resolve(self.client(), "org/m", None), SHA)
        self.hub.faults.set([{"kind": "status", "status": 500}])
        told = self.failure(hub.resolve, self.client(), "org/m", None)
        self.assertEqual((told.code, told.retryable), ("HUB_UNREACHABLE", True))
        self.assertIn("it answers 500", told.summary)
        self.assertEqual(len(self.hub.counts.requests()), 6)

    def test_a_page_for_people_is_no_hub(self):
        self.hub.faults.set([{"kind": "html"}])
        told = self.failure(hub.resolve, self.client(), "org/m", None)
        self.assertEqual((told.code, told.retryable), ("HUB_UNREACHABLE", False))
        self.assertIn("Please log in", told.evidence)
        self.assertIn("model.endpoint", told.change)

    def test_an_offline_host_says_so_without_asking(self):
        for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            told = self.failure(hub.resolve, self.client(**{variable: "1"}), "org/m", None)
            self.assertEqual(told.code, "HUB_UNREACHABLE")
            self.assertIn(f"{variable} is set", told.summary)
        self.assertEqual(self.hub.counts.requests(), [])

    def test_a_host_that_cannot_be_reached_is_told_at_once(self):
        self.hub.go_away()
        begin = time.monotonic()
        told = self.failure(hub.resolve, self.client(), "org/m", None)
        self.assertEqual((told.code, told.retryable), ("HUB_UNREACHABLE", True))
        self.assertIn("the connection is refused", told.summary)
        # A name that no name server has. Source: RFC 2606.
        nowhere = self.client(endpoint="http://hub.invalid")
        told = self.failure(hub.resolve, nowhere, "org/m", None)
        self.assertIn("HUB_UNREACHABLE", told.code)
        self.assertLess(time.monotonic() - begin, 8)

    def test_what_goes_to_the_proxy_and_what_does_not_is_as_the_login_says(self):
        elsewhere = {"endpoint": "http://hub.invalid", "http_proxy": self.hub.url}
        self.assertEqual(hub.resolve(self.client(**elsewhere), "org/m", None), SHA)
        self.assertEqual(
            self.hub.counts.requests()[0]["url"], "http://hub.invalid/api/models/org/m/revision/main"
        )
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            proxy = "http://ann:sesame@127.0.0.1:%d" % closed.getsockname()[1]
            direct = self.client(HTTP_PROXY=proxy, NO_PROXY="localhost,127.0.0.1")
            self.assertEqual(hub.resolve(direct, "org/m", None), SHA)
            told = self.failure(hub.resolve, self.client(ALL_PROXY=proxy), "org/m", None)
        self.assertIn("the connection is refused through the proxy 127.0.0.1:", told.summary)
        self.assertNotIn("sesame", str(told.to_error()))

    def test_a_path_that_would_leave_the_cache_is_refused(self):
        files = self.hub.repositories["org/m"].revisions[OLD].files
        files["../outside"] = files["config.json"]
        files["../outside"].path = "../outside"
        told = self.failure(hub.tree, self.client(), "org/m", OLD)
        self.assertEqual(told.code, "HUB_UNREACHABLE")
        self.assertIn("a file that cannot be one", told.summary)
