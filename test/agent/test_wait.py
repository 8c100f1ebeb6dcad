from __future__ import annotations

import json
import os
import signal
import socket
import time
import unittest
from datetime import datetime
from typing import Any

from agent import port_watch, processes, records, run_record, sockets, wait
from test.agent.acting import ActingCase, kill, wait_step

STARTED = "INFO:     Application startup complete.\n"
ENGINE = (
    "(EngineCore pid=7) INFO [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: model='/models/tiny', "
    "dtype=torch.bfloat16, max_seq_len=64, quantization=None, kv_cache_dtype=%s, device_config=cuda, seed=0\n"
)
TASKS = "(APIServer pid=1) INFO [entry.py:136] Supported tasks: ['%s']\n"


class ReadyTest(ActingCase):
    def ready(self, act: dict[str, Any], **wait: Any) -> dict[str, Any]:
        self.start({"log": STARTED, "listen": 0, **act})
        result = self.wait(**wait)
        self.assertEqual("ready", result["outcome"], result)
        return dict(result["ready"])

    def asked(self) -> list[str]:
        return [line for line in self.log().splitlines() if line.startswith("asked")]

    def test_ready_is_one_real_token_with_our_fingerprint_and_is_kept(self) -> None:
        ready = self.ready({"fingerprint": "f1"}, fingerprint="f1")
        self.assertLess(abs(time.time() - _seconds(ready.pop("readyAt"))), 60)
        self.assertTrue(0 < ready.pop("startSeconds") < 60)
        self.assertEqual(
            {
                "generation": 1,
                "modelNames": ["tiny"],
                "modelRoot": "/models/tiny",
                "maxModelLen": 64,
                "probe": "completion",
                "cacheConfig": {"block_size": "16", "cache_dtype": "auto"},
                "kvCacheDtype": "auto",
            },
            ready,
        )
        self.assertEqual(1, records.read_json(self.state() / "ready.json")["generation"])
        sent = {"model": "tiny", "max_tokens": 1, "temperature": 0, "prompt": [1]}
        self.assertEqual([f"asked /v1/completions {json.dumps(sent)} key=Bearer sesame"], self.asked())

    def test_the_probe_fits_the_routes(self) -> None:
        self.assertEqual("embedding", self.ready({"routes": ["/v1/embeddings", "/pooling"]})["probe"])

    def test_the_probe_fits_the_tasks_of_the_log(self) -> None:
        self.assertEqual(
            "classify", self.ready({"log": TASKS % "token_classify', 'classify" + STARTED})["probe"]
        )
        self.assertTrue(self.asked()[0].endswith("key=None"), "the key goes to /v1 only")

    def test_a_declared_probe_is_the_one_that_is_sent(self) -> None:
        routes = {
            "completion": "/v1/completions",
            "chat": "/v1/chat/completions",
            "embedding": "/v1/embeddings",
        }
        self.start({"log": TASKS % "classify" + STARTED, "listen": 0, "fingerprint": "f1"})
        for probe in (*routes, "health"):
            ready = self.wait(probe=probe, fingerprint="f1")["ready"]
            self.assertEqual(probe, ready["probe"])
        self.assertEqual(list(routes.values()), [line.split()[1] for line in self.asked()])

    def test_a_server_that_only_transcribes_is_asked_for_its_health(self) -> None:
        self.assertEqual("health", self.ready({"log": TASKS % "transcription" + STARTED})["probe"])
        self.assertEqual([], self.asked())

    def test_a_prompt_of_ids_that_is_refused_is_asked_again_as_text(self) -> None:
        ready = self.ready({"refuses_ids": True})
        self.assertEqual(("completion", 2), (ready["probe"], len(self.asked())))

    def test_the_whole_log_so_far_is_told_before_the_result(self) -> None:
        self.ready({"log": "first\nsecond\n" + STARTED})
        lines = [line for event in self.events() if event["event"] == "log" for line in event["lines"]]
        self.assertEqual(["first", "second", STARTED.strip()], lines[:3])
        self.assertTrue(lines[-1].startswith("asked"), lines)


class FailureTest(ActingCase):
    def test_an_exit_ends_the_wait_at_once(self) -> None:
        self.start({"log": "ValueError: no\n", "exit_after": 0.3, "exit_code": 1})
        self.assertEqual({"outcome": "exited", "code": 1, "signal": None}, self.wait())

    def test_a_death_by_signal_is_told_as_one(self) -> None:
        self.start({})
        os.kill(self.run_json()["leader"]["pid"], signal.SIGKILL)
        self.assertEqual({"outcome": "exited", "code": None, "signal": 9}, self.wait_for(1))

    def test_an_exit_counts_also_when_the_next_start_is_already_there(self) -> None:
        self.start({"exit_after": 0.5, "exit_code": 4}, restart=(5, 600, 0))
        self.assertEqual({"outcome": "exited", "code": 4, "signal": None}, self.wait())

    def test_nobody_knows_how_when_the_supervisor_died_too(self) -> None:
        self.start({})
        kill(run_record.living(self.run_json(), "supervisor"))
        os.kill(self.run_json()["leader"]["pid"], signal.SIGKILL)
        self.assertEqual({"outcome": "exited", "code": None, "signal": None}, self.wait_for(1))

    def wait_for(self, generation: int) -> dict[str, Any]:
        """The death may come before or within the wait; the plan was made while the server lived."""
        self.assertEqual(generation, self.run_json()["generation"])
        return wait.run(self.server_id, wait_step())

    def test_a_fatal_line_ends_it_with_the_lines_that_follow_told_too(self) -> None:
        act = {"log": "loading\nNotImplementedError: FP8\n", "late_log": [[0.5, "the true cause\n"]]}
        self.start(act)
        result = self.wait(fatalPatterns=["^NotImplementedError"])
        self.assertEqual({"outcome": "fatal", "line": "NotImplementedError: FP8"}, result)
        lines = [line for event in self.events() if event["event"] == "log" for line in event["lines"]]
        self.assertEqual(["loading", "NotImplementedError: FP8", "the true cause"], lines)

    def test_the_timeout_tells_the_last_line(self) -> None:
        self.start({"log": "loading\n"})
        result = self.wait(timeoutSeconds=0.5)
        self.assertTrue(0.5 <= result.pop("waitedSeconds") < 3)
        activity = result.pop("activity")
        self.assertEqual((0.0, 0.0), (activity["spinningSeconds"], activity["cpuCores"]))
        self.assertEqual({"outcome": "timeout", "lastLine": "loading", "unanswered": None}, result)

    def test_the_timeout_tells_what_a_healthy_server_does_not_answer(self) -> None:
        self.start({"log": STARTED, "listen": 0, "mute": True})
        result = self.wait(timeoutSeconds=2)
        self.assertEqual(("timeout", "POST /v1/completions"), (result["outcome"], result["unanswered"]))

    def test_a_port_that_another_process_got_is_lost_to_it(self) -> None:
        self.start({"late_log": [[0.3, STARTED]]})
        with socket.socket() as rival:
            rival.bind(("127.0.0.1", self.port))
            rival.listen()
            result = self.wait()
        self.assertEqual(("port-lost", os.getpid()), (result["outcome"], result["winnerPid"]))
        self.assertIn("unittest", result["winnerCommand"])

    def test_a_port_on_which_nobody_listens_long_after_the_log_said_so_is_lost(self) -> None:
        self._patch(port_watch, "LISTEN_SECONDS", 1.0)
        self.start({"log": STARTED})
        result = self.wait()
        self.assertEqual(("port-lost", None), (result["outcome"], result["winnerPid"]))

    def test_one_of_ours_that_begins_to_listen_between_two_looks_is_nobody_else(self) -> None:
        later = sockets.listeners
        looks: list[Any] = [[]]

        def listeners(port: int) -> Any:
            return looks.pop() if looks else later(port)

        with socket.socket() as ours:
            ours.bind(("127.0.0.1", self.port))
            ours.listen()
            watch = port_watch.PortWatch("127.0.0.1", self.port)
            watch.hear(STARTED)
            self._patch(sockets, "listeners", listeners)
            me = processes.read_process(os.getpid())
            self.assertIsNone(watch.lost_to(lambda: [me]))

    def test_a_foreign_server_on_the_port_does_not_make_ours_ready(self) -> None:
        self.start({})
        with socket.socket() as rival:
            rival.bind(("127.0.0.1", self.port))
            rival.listen()
            self.assertEqual("timeout", self.wait(timeoutSeconds=1)["outcome"])


class LostWishTest(ActingCase):
    """The wished type of the KV cache, against what the server tells of it in each place."""

    def test_what_the_engine_makes_of_auto_is_the_type_it_has(self) -> None:
        self.start({"log": ENGINE % "auto" + STARTED, "listen": 0})
        ready = self.wait(kvCacheDtypes=["bfloat16"])["ready"]
        self.assertEqual("bfloat16", ready["kvCacheDtype"])
        self.assertEqual("bfloat16", records.read_json(self.state() / "ready.json")["kvCacheDtype"])

    def lost(self, act: dict[str, Any], wished: list[str]) -> tuple[str, str, str, str]:
        self.start({"listen": 0, **act})
        result = self.wait(kvCacheDtypes=wished)
        self.assertEqual("kv-cache-dtype-lost", result["outcome"], result)
        self.assertFalse((self.state() / "ready.json").exists(), "nobody takes it for a server that is ready")
        return result["wanted"], result["dtype"], result["evidence"], result["place"]

    def test_a_layer_that_takes_another_type_is_seen_though_config_and_metrics_have_the_wished_one(
        self,
    ) -> None:
        layer = "(Worker pid=9) INFO [mla_attention.py:529] Using fp8_ds_mla KV cache format for FLASHINFER_MLA_SPARSE_SM120 backend.\n"
        act = {"log": ENGINE % "bfloat16" + layer + STARTED, "cache_dtype": "bfloat16"}
        told = "Using fp8_ds_mla KV cache format for FLASHINFER_MLA_SPARSE_SM120 backend"
        self.assertEqual(
            ("bfloat16", "fp8_ds_mla", told, "attention layer in its log"), self.lost(act, ["bfloat16"])
        )

    def test_an_engine_that_goes_by_the_model_is_no_quantized_one(self) -> None:
        act = {"log": ENGINE % "auto" + STARTED}
        self.assertEqual(
            (
                "fp8",
                "bfloat16",
                "kv_cache_dtype=auto, dtype=torch.bfloat16",
                "config of the engine in its log",
            ),
            self.lost(act, ["fp8", "fp8_e4m3"]),
        )

    def test_metrics_are_believed_where_the_log_tells_nothing(self) -> None:
        act = {"log": STARTED, "cache_dtype": "fp8"}
        self.assertEqual(
            ("bfloat16", "fp8", 'vllm:cache_config_info{cache_dtype="fp8"}', "its /metrics"),
            self.lost(act, ["bfloat16"]),
        )


class WrongAnswerTest(ActingCase):
    def detail(self, act: dict[str, Any], **wait: Any) -> str:
        self.start({"log": STARTED, "listen": 0, **act})
        result = self.wait(**wait)
        self.assertEqual("wrong-answer", result["outcome"], result)
        return str(result["detail"])

    def test_another_name(self) -> None:
        self.assertEqual(
            "/v1/models has ['big'], need tiny", self.detail({"models": [{"id": "big", "root": "/x"}]})
        )

    def test_another_root(self) -> None:
        told = self.detail({"models": [{"id": "tiny", "root": "/models/other"}]})
        self.assertEqual("/v1/models says that tiny is served from /models/other, need /models/tiny", told)

    def test_another_fingerprint(self) -> None:
        told = self.detail({"fingerprint": "old"}, fingerprint="f1")
        self.assertEqual("its answer carries the fingerprint old, need f1", told)

    def test_a_refused_probe(self) -> None:
        told = self.detail({"probe_status": 404}, probe="chat")
        self.assertTrue(told.startswith("the chat probe was refused with HTTP 404: "), told)


def _seconds(iso: str) -> float:
    return datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()


if __name__ == "__main__":
    unittest.main()
