"""A server that looks healthy is asked for one token, and one that is at work is never blamed for not answering."""

import http.server
import json
import threading
import time
from functools import partial

from agent import observe, probe, registry, server_seen, token_probe

from .bed import OWNER, HostCase

ID = OWNER["serverId"]


class Served:
    """An API on a free port. `answer(request body)` gives (status, body), or None: no answer until the test ends."""

    def __init__(self, answer, metrics):
        self.answer, self.metrics = answer, metrics
        self.asked = []
        self.keys = set()
        self.ended = threading.Event()
        served = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                text = served.metrics()
                self.reply(404, "") if text is None else self.reply(200, text)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                served.asked.append((self.path, body))
                served.keys.add(self.headers.get("authorization"))
                told = served.answer(body)
                if told is None:
                    served.ended.wait(30)
                else:
                    self.reply(*told)

            def reply(self, status, text):
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


def counting(start=1.0, step=0.0, running=0, waiting=0):
    """/metrics of an engine that makes `step` tokens between two looks."""
    tokens = [start]

    def text():
        told = (
            f'vllm:generation_tokens_total{{engine="0"}} {tokens[0]}\n'
            f'vllm:num_requests_running{{engine="0"}} {running}\n'
            f'vllm:num_requests_waiting{{engine="0"}} {waiting}\n'
        )
        tokens[0] += step
        return told

    return text


def silent():
    """/metrics of a server whose statistics are switched off."""
    return None


class TokenProbeTest(HostCase):
    def setUp(self):
        super().setUp()
        for name, seconds in (
            ("ANSWER_SECONDS", 0.3),
            ("_PATIENCE_SECONDS", 0.5),
            ("_LOOK_SECONDS", 0.05),
            ("_PAUSE_SECONDS", 0.01),
        ):
            self.addCleanup(setattr, token_probe, name, getattr(token_probe, name))
            setattr(token_probe, name, seconds)

    def ask(self, answer, metrics=silent, kind="completion", config="", secrets=None):
        self.served = Served(answer, metrics)
        self.addCleanup(self.served.close)
        self.record(ID, secrets=secrets or {})
        server = registry.Server(
            server_id=ID,
            owner=OWNER,
            launch={
                "generation": 1,
                "fingerprint": "f1",
                "configYaml": config,
                "servedModelNames": ["m"],
                "listen": {"address": "127.0.0.1", "port": self.served.port},
            },
            run={"generation": 1},
            ready={"generation": 1, "probe": kind, "modelNames": ["m"]},
            members=[],
            is_supervised=True,
        )
        return token_probe.ask(server)

    def outcome(self, *arguments, **named):
        return self.ask(*arguments, **named)["outcome"]

    def test_one_token_is_asked_for_with_the_servers_own_key(self):
        told = self.ask(lambda _: (200, "{}"), secrets={"VLLM_API_KEY": "sesame"})
        self.assertEqual(told, {"outcome": "answered", "detail": None})
        body = {"model": "m", "max_tokens": 1, "temperature": 0, "prompt": [1]}
        self.assertEqual(self.served.asked, [("/v1/completions", body)])
        self.assertEqual(self.served.keys, {"Bearer sesame"})

    def test_the_request_is_of_the_kind_it_was_proven_with(self):
        self.ask(lambda _: (200, "{}"), kind="embedding")
        self.assertEqual([path for path, _ in self.served.asked], ["/v1/embeddings"])

    def test_a_server_that_was_proven_by_its_health_alone_is_asked_nothing(self):
        self.assertIsNone(self.ask(lambda _: (200, "{}"), kind="health"))
        self.assertEqual(self.served.asked, [])

    def test_no_answer_and_no_work_is_unanswered(self):
        told = self.ask(lambda _: None, counting())
        self.assertEqual(told["outcome"], "unanswered")
        self.assertIn("POST /v1/completions", told["detail"])

    def test_no_answer_in_time_from_a_server_at_work_is_busy(self):
        self.assertEqual(self.outcome(lambda _: None, counting(step=1.0)), "busy")

    def test_no_answer_from_a_server_that_does_not_say_whether_it_works_is_unclear(self):
        self.assertEqual(self.outcome(lambda _: None, silent), "unclear")

    def test_a_long_step_of_a_server_with_requests_is_waited_for(self):
        began = time.monotonic()
        counts = counting(running=3)

        def metrics():
            text = counts()
            return text.replace(" 1.0", " 2.0") if time.monotonic() - began > 0.6 else text

        self.assertEqual(self.outcome(lambda _: None, metrics), "busy")

    def test_requests_that_hang_with_ours_are_no_work(self):
        told = self.ask(lambda _: None, counting(running=3, waiting=20))
        self.assertEqual(told["outcome"], "unanswered")
        self.assertRegex(told["detail"], r"; meanwhile it worked for nobody \(3 running, 20 waiting\)$")

    def test_too_many_requests_is_busy_where_it_works(self):
        for status in (429, 503):
            with self.subTest(status=status):
                self.assertEqual(
                    self.outcome(lambda _, status=status: (status, ""), counting(step=1.0)), "busy"
                )

    def test_an_engine_that_is_dead_is_unanswered(self):
        self.assertEqual(self.outcome(lambda _: (500, "EngineDeadError"), counting()), "unanswered")

    def test_a_key_that_is_not_taken_is_refused_however_much_it_works_for_others(self):
        told = self.ask(lambda _: (401, "Unauthorized"), counting(step=1.0))
        self.assertEqual(
            told,
            {"outcome": "refused", "detail": "the completion probe was refused with HTTP 401: Unauthorized"},
        )

    def test_a_token_of_another_declaration_is_refused(self):
        config = 'fingerprint-value: "f1"\n'
        self.assertEqual(
            self.outcome(lambda _: (200, '{"system_fingerprint": "f2"}'), config=config), "refused"
        )
        self.assertEqual(
            self.outcome(lambda _: (200, '{"system_fingerprint": "f1"}'), config=config), "answered"
        )

    def test_a_connection_that_was_cut_is_no_answer_yet(self):
        tries = []

        def answer(_):
            tries.append(1)
            return (200, "{}") if len(tries) > 1 else (502, "")

        self.assertEqual(self.outcome(answer, counting()), "answered")

    def test_a_probe_of_a_start_is_given_the_time_to_compile(self):
        self.assertGreater(probe.ANSWER_SECONDS, 60)


class TokenOfRefreshTest(HostCase):
    """Who pays for it: a refresh, and an update that was told of a server which answers none."""

    def test_only_they_ask(self):
        def asks(query, request):
            look = observe._look(registry.load(ID), {"secretEnvironment": {}, **query}, request)
            self.assertIsInstance(look, partial)
            self.assertEqual(look.func, server_seen.describe)
            return look.args[2]

        self.assertEqual(
            [asks({}, {}), asks({"asksToken": True}, {}), asks({}, {"others": {"salt": "00"}})],
            [False, True, True],
        )
