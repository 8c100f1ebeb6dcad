"""The hub of the test bed is one to the real client: what it downloads ends in a right cache."""

import hashlib
import subprocess
import unittest

from agent import hub, hub_http, hub_login
from test.support.hub import Hub

from . import hub_client
from .bed import HostCase

MIB = 1 << 20
CONFIG = {
    "repositories": {
        "org/m": {
            "revisions": [
                {
                    "refs": ["main"],
                    "files": {
                        "config.json": {"json": {"model_type": "llama"}},
                        "sub/vocab.txt": "a\nb\n",
                        "pytorch_model.bin": {"zeros": 1000},
                    },
                    "shards": {"count": 3, "sizeBytes": 12 * MIB},
                }
            ]
        },
        "org/gated": {"gated": True, "tokens": ["hf_right"], "revisions": [{"files": {"config.json": "{}"}}]},
    },
    "pageEntries": 2,
    "cdn": True,
}


@unittest.skipIf(hub_client.HF is None, hub_client.MISSING)
class HubClientTest(HostCase):
    def setUp(self):
        super().setUp()
        self.hub = Hub(CONFIG)
        self.hub.__enter__()
        self.addCleanup(self.hub.__exit__)
        self.environment = hub_client.environment(self.hub.url, self.home)

    def download(self, *arguments, **environment):
        return subprocess.run(
            [hub_client.HF, "download", *arguments],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_a_cut_download_ends_in_the_cache_that_the_hub_describes(self):
        cut = {"kind": "cut", "file": "model-00002*", "afterBytes": 11 * MIB, "times": 1}
        self.hub.faults.set([cut])
        done = self.download("org/m", "--exclude", "*.bin")
        self.assertEqual(done.returncode, 0, done.stderr)
        repository = self.home / "hf" / "hub" / "models--org--m"
        sha = self.hub.sha("org/m")
        client = hub_http.Hub(self.hub.url, None, {})
        files = [file for file in hub.tree(client, "org/m", sha) if not file.path.endswith(".bin")]
        self.assertEqual(len(files), 6)
        for file in files:
            pointer = repository / "snapshots" / sha / file.path
            self.assertEqual(pointer.resolve(), (repository / "blobs" / file.blob).resolve())
            self.assertEqual(digest(pointer.read_bytes(), file.blob), file.blob, file.path)
        self.assertEqual(sorted(self.counts()), sorted(file.path for file in files))
        # Resumed behind the last whole piece of 10 MiB. Source: huggingface_hub 2.4.0, file_download.py http_get.
        shard = self.counts()["model-00002-of-00003.safetensors"]
        self.assertEqual((shard["gets"], shard["ranges"]), (2, [[10 * MIB, 12 * MIB - 1]]))
        self.assertEqual(shard["bytes"], 13 * MIB)

    def counts(self):
        return self.hub.counts.files()["org/m"]

    def test_the_token_opens_gated_files_and_stays_at_the_hub(self):
        refused = self.download("org/gated")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("requires approval", refused.stderr)
        self.assertEqual(self.download("org/gated", HF_TOKEN="hf_right").returncode, 0)
        self.assertEqual(self.hub.leaked_tokens, [])

    def test_the_client_says_which_hub_is_its_default(self):
        self.assertEqual(
            hub_login.endpoint(None, {"HF_ENDPOINT": "http://mirror:8/x/"}, None), "http://mirror:8/x"
        )
        login = {"PATH": "/usr/bin:/bin", "HOME": str(self.home)}
        self.assertRegex(hub_login.endpoint(None, login, hub_client.HF), r"^https://[a-z.]+$")


def digest(data, like):
    """sha256 of an LFS file, git's name of any other."""
    if len(like) == 64:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
