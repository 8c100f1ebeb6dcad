"""Dead engine, hang, deaf and busy are different states of a server that lives, and a busy one is never blamed."""

import http.server
import os
import threading

from agent import processes, registry, serving, status, token_probe

from .bed import OWNER, HostCase, identity

ID = OWNER["serverId"]
TOKEN = (200, "{}")
NEVER = None


class Api:
    """Answers each path with what `answers` has for it: (status, body), NEVER, or a list of them for one request each."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []
        self.ended = threading.Event()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.reply()

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                self.reply()

            def reply(self):
                api.asked.append(self.path)
                told = api.answers[self.path]
                told = told.pop(0) if isinstance(told, list) else told
                if told is NEVER:
                    api.ended.wait(30)
                    return
                self.send_response(told[0])
                self.send_header("content-length", str(len(told[1])))
                self.end_headers()
                self.wfile.write(told[1].encode())

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


def metrics(tokens, running=0):
    return (200, f"vllm:generation_tokens_total {tokens}\nvllm:num_requests_running {running}\n")


def at_work():
    return [metrics(tokens, running=3) for tokens in range(1, 50)]


class ServingTest(HostCase):
    def setUp(self):
        super().setUp()
        for module, name, seconds in (
            (status, "HEALTH_SECONDS", 0.3),
            (token_probe, "ANSWER_SECONDS", 0.3),
            (token_probe, "_METRICS_SECONDS", 0.3),
            (token_probe, "_PATIENCE_SECONDS", 0.3),
            (token_probe, "_LOOK_SECONDS", 0.05),
            (token_probe, "_PAUSE_SECONDS", 0.01),
            (serving, "_LEAST_SECONDS", 0.1),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, seconds)

    def look(self, health, token=TOKEN, counters=None, asks_token=False, port=None):
        """Of a server that this very process plays, with a log that holds its key."""
        answers = {"/health": health, "/v1/completions": token, "/metrics": counters or metrics(1)}
        self.api = Api(answers)
        self.addCleanup(self.api.close)
        folder = self.record(ID, secrets={"VLLM_API_KEY": "sesame"})
        (folder / "logs").mkdir(exist_ok=True)
        (folder / "logs" / "1.log").write_text("INFO up\nstuck with sesame\n")
        me = identity(os.getpid())
        server = registry.Server(
            server_id=ID,
            owner=OWNER,
            launch={
                "generation": 1,
                "fingerprint": "f1",
                "configYaml": "",
                "servedModelNames": ["m"],
                "listen": {"address": "127.0.0.1", "port": port or self.api.port},
            },
            run={"bootId": processes.boot_id(), "leader": me, "generation": 1, "state": "running"},
            ready={"generation": 1, "probe": "completion", "modelNames": ["m"]},
            members=[processes.read_process(os.getpid())],
            is_supervised=True,
        )
        seen = serving.look(server, asks_token)
        if seen.illness is not None:
            self.processes = seen.illness.pop("processes")
        return seen

    def illness(self, **parts):
        return {"log": [{"first": 1, "lines": ["INFO up", "stuck with ***"]}], "listens": True, **parts}

    def test_healthy_is_ready_without_a_request(self):
        self.assertEqual(serving.Served("ready"), self.look((200, "")))
        self.assertEqual(["/health"], self.api.asked)

    def test_healthy_without_a_token_hangs(self):
        seen = self.look((200, ""), NEVER, asks_token=True)
        self.assertEqual(("hung", "unanswered"), (seen.status, seen.token["outcome"]))
        self.assertEqual(self.illness(health=200), seen.illness)

    def test_what_the_processes_of_a_hung_server_do_is_told(self):
        ended = threading.Event()
        self.addCleanup(ended.set)

        def spin():
            while not ended.is_set():
                pass

        threading.Thread(target=spin, daemon=True).start()
        self.look((200, ""), NEVER, asks_token=True)
        (one,) = self.processes
        self.assertEqual((os.getpid(), True), (one["pid"], "unittest" in one["command"]))
        self.assertGreater(one["cpuCores"], 0.1)

    def test_healthy_and_busy_is_ready(self):
        seen = self.look((200, ""), NEVER, at_work(), asks_token=True)
        self.assertEqual(("ready", "busy", None), (seen.status, seen.token["outcome"], seen.illness))

    def test_healthy_without_statistics_is_not_blamed(self):
        seen = self.look((200, ""), NEVER, (404, ""), asks_token=True)
        self.assertEqual(("ready", "unclear", None), (seen.status, seen.token["outcome"], seen.illness))

    def test_refused_is_not_hung(self):
        seen = self.look((200, ""), (401, "no"), asks_token=True)
        self.assertEqual(("unresponsive", "refused"), (seen.status, seen.token["outcome"]))
        self.assertEqual(self.illness(health=200), seen.illness)

    def test_a_dead_engine_below_a_living_api_server_is_told_at_once(self):
        seen = self.look((503, ""))
        self.assertEqual(serving.Served("unresponsive", None, self.illness(health=503)), seen)
        self.assertEqual(["/health"] * 2, self.api.asked)

    def test_one_slow_moment_is_no_illness(self):
        self.assertEqual(serving.Served("ready"), self.look([NEVER, (200, "")]))

    def test_too_busy_for_its_health_is_ready_whoever_asks(self):
        seen = self.look(NEVER, NEVER, at_work())
        self.assertEqual(("ready", "busy", None), (seen.status, seen.token["outcome"], seen.illness))

    def test_without_health_but_with_a_token_is_ready(self):
        seen = self.look(NEVER)
        self.assertEqual(("ready", "answered", None), (seen.status, seen.token["outcome"], seen.illness))

    def test_without_health_and_without_work_hangs(self):
        seen = self.look(NEVER, NEVER)
        self.assertEqual(("hung", "unanswered"), (seen.status, seen.token["outcome"]))
        self.assertEqual(self.illness(health=None), seen.illness)

    def test_one_that_answers_nothing_at_all_is_unresponsive(self):
        seen = self.look(NEVER, NEVER, [NEVER] * 5)
        self.assertEqual(("unresponsive", "unclear"), (seen.status, seen.token["outcome"]))
        self.assertEqual(self.illness(health=None), seen.illness)

    def test_one_that_lives_and_does_not_listen_is_asked_nothing(self):
        seen = self.look((200, ""), asks_token=True, port=1)
        self.assertEqual(serving.Served("unresponsive", None, self.illness(listens=False, health=None)), seen)
        self.assertEqual([], self.api.asked)
