"""main.py and loader.py: every request ends with one result or one error event, without a secret in it."""

import json
import os
import subprocess

from .bed import HostCase, bundle, launch_text, run_agent

OBSERVE = {"op": "observe", "protocol": 1, "deadlineSeconds": 30, "servers": []}
SECRET = 'hunter2"\\x\n'


class RequestTest(HostCase):
    def error_of(self, request, **options):
        code, events, stderr = run_agent(request, **options)
        self.assertEqual((code, events[0]["event"], events[-1]["event"], stderr), (2, "hello", "error", ""))
        return events[-1]["error"]

    def test_hello_comes_first_and_the_result_last(self):
        code, events, stderr = run_agent(OBSERVE)
        self.assertEqual((code, stderr), (0, ""))
        self.assertEqual([event["event"] for event in events], ["hello", "result"])
        self.assertEqual(events[0]["protocol"], 1)
        self.assertRegex(events[0]["python"], r"^3\.\d+\.\d+$")

    def test_a_request_that_is_cut_is_never_acted_on(self):
        whole = json.dumps(OBSERVE).encode()
        for cut in (0, 1, len(whole) // 2, len(whole) - 1):
            with self.subTest(bytes=cut):
                error = self.error_of(whole[:cut])
                self.assertEqual(error["code"], "AGENT_CRASHED")
                self.assertRegex(
                    error["summary"],
                    r"^Cannot read the request: found no JSON at position \d+ of %d bytes$" % cut,
                )

    def test_requests_that_make_no_sense_are_refused_in_words(self):
        cases = [
            (b"\xff\xfe", "no JSON at position 0 of 2 bytes"),
            (b"[]", "a JSON list"),
            ({**OBSERVE, "protocol": 2}, "protocol 2, need 1"),
            ({**OBSERVE, "deadlineSeconds": 0}, "deadlineSeconds 0, need seconds above 0"),
            ({**OBSERVE, "deadlineSeconds": True}, "deadlineSeconds True, need seconds above 0"),
            ({**OBSERVE, "op": "rm"}, "op 'rm', need observe, apply, flags, survey or logs"),
        ]
        for request, found in cases:
            with self.subTest(found=found):
                self.assertEqual(self.error_of(request)["summary"], "Cannot read the request: found " + found)

    def test_a_missing_module_is_an_error_event(self):
        error = self.error_of(OBSERVE, modules={"observe": None})
        self.assertEqual(error["code"], "AGENT_CRASHED")
        self.assertIn("cannot import name 'observe' from 'agent'", error["evidence"])

    def test_a_crash_shows_source_lines_and_hides_every_secret(self):
        broken = (
            "def run(request):\n    kept = request['servers'][0]['secretEnvironment']\n"
            "    raise KeyError(kept['KEY'] + request['apiKey'])\n"
        )
        request = {**OBSERVE, "apiKey": "sk-12345", "servers": [{"secretEnvironment": {"KEY": SECRET}}]}
        error = self.error_of(request, modules={"observe": broken})
        self.assertEqual(error["summary"], "Cannot finish on the host: the agent met an unexpected KeyError")
        self.assertIn("agent/observe.py", error["evidence"])
        self.assertIn("raise KeyError(kept[", error["evidence"])
        self.assertIn("'******'", error["evidence"])
        for part in ("hunter2", "sk-12345"):
            self.assertNotIn(part, json.dumps(error))

    def test_the_deadline_ends_whatever_is_running(self):
        for stuck in (
            "import time\ndef run(request):\n    time.sleep(60)\n",
            "def run(request):\n    while True: pass\n",
        ):
            with self.subTest(stuck=stuck):
                error = self.error_of({**OBSERVE, "deadlineSeconds": 0.3}, modules={"observe": stuck})
                self.assertEqual((error["code"], error["retryable"]), ("AGENT_DEADLINE", True))

    def test_the_deadline_is_no_ordinary_exception(self):
        stuck = (
            "import time\ndef run(request):\n    try:\n        time.sleep(60)\n"
            "    except Exception:\n        return 1\n"
        )
        error = self.error_of({**OBSERVE, "deadlineSeconds": 0.3}, modules={"observe": stuck})
        self.assertEqual(error["code"], "AGENT_DEADLINE")

    def test_it_ends_when_nobody_listens_any_more(self):
        busy = (
            "import time\nfrom agent import events\ndef run(request):\n"
            "    while True:\n        events.emit({'event': 'alive'})\n        time.sleep(0.01)\n"
        )
        command = ["sh", "-c", launch_text(), "sh", ""]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdin.write(bundle(observe=busy) + json.dumps(OBSERVE).encode())
            child.stdin.close()
            child.stdout.readline()
            child.stdout.close()
            self.assertEqual(child.wait(timeout=20), 1)

    def test_input_that_is_cut_or_read_by_a_start_up_file_runs_nothing_and_is_never_shown(self):
        sent = bundle() + json.dumps({**OBSERVE, "secret": "sk-12345"}).encode()
        cases = {
            "cut": sent[: len(bundle()) // 2],
            "nothing left": b"",
            "first line read": sent[sent.index(b"\n") + 1 :],
            "bundle read": sent[len(bundle()) :],
            "half of a secret left": sent[-6:],
        }
        for name, left in cases.items():
            with self.subTest(name):
                done = subprocess.run(
                    ["sh", "-c", launch_text(), "sh", ""], input=left, capture_output=True, check=False
                )
                error = json.loads(done.stdout)["error"]
                self.assertEqual((done.returncode, done.stderr), (2, b""))
                self.assertEqual(
                    (error["code"], error["summary"]),
                    (
                        "AGENT_REPLY_BROKEN",
                        "Cannot run the agent: its standard input did not arrive whole, need a login shell"
                        " whose start-up files do not read from it",
                    ),
                )

    def test_it_writes_nothing_to_the_host(self):
        run_agent(OBSERVE)
        self.assertEqual(sorted(os.listdir(self.home)), ["bin"])
