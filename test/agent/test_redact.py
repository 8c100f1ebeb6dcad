"""redact.py: what is a secret of a request, and what is a setting that a log cannot be read without."""

from __future__ import annotations

import unittest

from agent import redact


class RedactTest(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(redact.learn, {})

    def test_settings_stay_readable_and_no_variable_whose_name_speaks_of_a_secret(self) -> None:
        environment = {
            "VLLM_ATTENTION_BACKEND": "FLASHINFER",
            "VLLM_CPU_KVCACHE_SPACE": "4000",
            "MAX_JOBS": "160000",
            "VLLM_LOGGING_LEVEL": "DEBUG",
            "LEVEL": "error",
            "VLLM_API_KEY": "OPENSESAME",
            "DB_PASSWORD": "123456",
            "OTHER": "BACKENDS",
            "VLLM_PORT": "tcp://10.0.0.1:8",
        }
        redact.learn({"steps": [{"secretEnvironment": environment}]})
        self.assertEqual(
            "FLASHINFER 4000 160000 DEBUG error *** *** *** ***",
            redact.hide(" ".join(environment.values())),
        )

    def test_a_key_is_hidden_though_it_is_a_number(self) -> None:
        redact.learn({"apiKey": "123456"})
        self.assertEqual({"told": ["***"]}, redact.hide_deep({"told": ["123456"]}))
