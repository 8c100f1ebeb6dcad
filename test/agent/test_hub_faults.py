"""The hub of the test bed does what its README says: ranges, faults, counts, and orders from another process."""

import http.client
import json
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from test.support.hub import Hub
from test.support.hub.content import safetensors

SERVE = Path(__file__).resolve().parents[1] / "support" / "hub" / "serve.py"
SIZE = 1 << 20
CONFIG = {
    "repositories": {
        "org/m": {
            "revisions": [
                {
                    "sha": "a" * 40,
                    "refs": ["main"],
                    "files": {"a.txt": "0123456789", "big.safetensors": {"safetensors": SIZE}},
                }
            ]
        }
    }
}


def get(url, **headers):
    """(status, headers, body), the body as far as it came."""
    host, _, path = url.partition("//")[2].partition("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.request("GET", "/" + path, headers=headers)
        answer = connection.getresponse()
        try:
            return answer.status, answer.headers, answer.read()
        except http.client.IncompleteRead as cut:
            return answer.status, answer.headers, cut.partial
    finally:
        connection.close()


class HubFaultsTest(unittest.TestCase):
    def setUp(self):
        self.hub = Hub(CONFIG)
        self.hub.__enter__()
        self.addCleanup(self.hub.__exit__)
        self.text = self.hub.url + "/org/m/resolve/main/a.txt"
        self.big = self.hub.url + "/org/m/resolve/main/big.safetensors"

    def test_big_files_are_whole_safetensors_and_cost_no_memory(self):
        huge = safetensors(100 << 30, "layer.0", "x")
        header_bytes = int.from_bytes(huge.read(0, 8), "little")
        header = json.loads(huge.read(8, header_bytes)[:header_bytes])
        end = header["layer.0"]["data_offsets"][1]
        self.assertEqual(8 + header_bytes + end, 100 << 30)
        self.assertEqual(huge.read((100 << 30) - 3, 10), bytes(3))
        self.assertNotEqual(safetensors(SIZE, "w", "a").sha256(), safetensors(SIZE, "w", "b").sha256())

    def test_ranges(self):
        asked = {"bytes=2-4": b"234", "bytes=7-": b"789", "bytes=-2": b"89", "bytes=8-99": b"89"}
        for given, body in asked.items():
            status, headers, found = get(self.text, Range=given)
            self.assertEqual((status, found), (206, body))
            self.assertEqual(headers["X-Repo-Commit"], "a" * 40)
        self.assertEqual(get(self.text, Range="bytes=10-")[0], 416)
        self.assertEqual(self.hub.counts.files()["org/m"]["a.txt"]["bytes"], 10)

    def test_a_cut_ends_the_connection_as_often_as_asked(self):
        self.hub.faults.set([{"kind": "cut", "file": "big*", "afterBytes": 1000, "times": 1}])
        self.assertEqual(len(get(self.big)[2]), 1000)
        self.assertEqual(len(get(self.big)[2]), SIZE)
        self.assertEqual(self.hub.counts.bytes(), SIZE + 1000)

    def test_a_corrupt_byte_is_the_only_one(self):
        right = get(self.text)[2]
        self.hub.faults.set([{"kind": "corrupt", "file": "a.txt", "atByte": 3}])
        wrong = get(self.text)[2]
        self.assertEqual([at for at in range(10) if right[at] != wrong[at]], [3])

    def test_a_short_file_and_a_swapped_one_are_told_as_they_are_sent(self):
        config = {"a": "0123456789", "b": "xy"}
        with Hub({"repositories": {"org/n": {"revisions": [{"files": config}]}}}) as hub:
            place = hub.url + "/org/n/resolve/main/a"
            etag = get(place)[1]["ETag"]
            hub.faults.set([{"kind": "short", "file": "a", "toBytes": 4, "times": 1}])
            with urllib.request.urlopen(urllib.request.Request(place, method="HEAD"), timeout=10) as head:
                self.assertEqual((head.headers["Content-Length"], head.headers["ETag"]), ("4", etag))
            self.assertEqual([get(place)[2], get(place)[2]], [b"0123", b"0123456789"])
            hub.faults.set([{"kind": "swap", "file": "a", "other": "b", "times": 1}])
            found = get(place)
            self.assertEqual((found[2], found[1]["ETag"]), (b"xy", etag))

    def test_a_throttle_holds_for_all_responses_together(self):
        self.hub.faults.set([{"kind": "throttle", "bytesPerSecond": 2 * SIZE}])
        begin = time.monotonic()
        self.assertEqual(len(get(self.big)[2]), SIZE)
        self.assertGreater(time.monotonic() - begin, 0.4)

    def test_a_stalled_response_goes_on_when_the_fault_is_lifted(self):
        self.hub.faults.set([{"kind": "stall", "file": "big*", "afterBytes": 5}])
        with urllib.request.urlopen(self.big, timeout=10) as answer:
            self.assertEqual(len(answer.read(5)), 5)
            self.assertEqual(self.hub.counts.bytes(), 5)
            self.hub.faults.clear()
            self.assertEqual(len(answer.read()), SIZE - 5)

    def test_a_hub_that_went_away_comes_back_under_its_address(self):
        url = self.hub.url
        self.hub.faults.set([{"kind": "stall"}])
        with urllib.request.urlopen(self.big, timeout=10) as answer:
            self.hub.go_away()
            self.assertRaises((OSError, http.client.IncompleteRead), answer.read)
        self.assertRaises(ConnectionRefusedError, get, self.text)
        self.hub.faults.clear()
        self.hub.come_back()
        self.assertEqual((self.hub.url, get(self.text)[2]), (url, b"0123456789"))

    def test_another_process_starts_it_gives_it_orders_and_takes_it_along(self):
        child = subprocess.Popen(
            [sys.executable, str(SERVE), self.config()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with child:
            told = json.loads(child.stdout.readline())
            self.assertIsNone(told["cdn"])
            text = told["url"] + "/org/m/resolve/main/a.txt"
            order(told, "/faults", [{"kind": "status", "path": "*a.txt", "status": 500}])
            self.assertEqual(get(text)[0], 500)
            self.assertEqual(order(told, "/away")["away"], True)
            self.assertRaises(ConnectionRefusedError, get, text)
            order(told, "/back")
            order(told, "/faults", [])
            self.assertEqual(get(text)[2], b"0123456789")
            with urllib.request.urlopen(told["control"] + "/state", timeout=10) as answer:
                self.assertEqual(json.load(answer)["files"]["org/m"]["a.txt"]["bytes"], 10)
            child.stdin.close()
            self.assertEqual(child.wait(10), 0)

    def config(self):
        folder = tempfile.TemporaryDirectory(prefix="pvllm-test-")
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "config.json"
        path.write_text(json.dumps(CONFIG))
        return str(path)


def order(told, path, value=None):
    body = b"" if value is None else json.dumps(value).encode()
    with urllib.request.urlopen(told["control"] + path, data=body, timeout=10) as answer:
        return json.load(answer)
