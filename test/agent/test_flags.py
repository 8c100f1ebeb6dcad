"""flags.py: the installed vLLM is asked once, and its help text is read like argparse writes it."""

import json

from agent import flags
from agent.failure import AgentFailure

from .bed import HostCase, run_agent

HELP = """usage: vllm serve [model_tag] [options]

Start a vLLM OpenAI compatible API server.

When passing JSON CLI arguments, the following are equivalent:
   --json-arg '{"key1": "value1"}'

positional arguments:
  model_tag             The model tag to serve (optional if specified in config) (default: None)

options:
  --headless            Run in headless mode. See --multi-node-thing for more. (default: False)
  --api-server-count, -asc API_SERVER_COUNT
                        How many API server processes to run, like
                        --not-a-flag
  -h, --help            show this help message and exit

ModelConfig:
  Configuration for the model.

  --dtype {auto,bfloat16,float16}
                        - `auto` will use --neither
  --hf-overrides HF_OVERRIDES
  --enable-prefix-caching, --no-enable-prefix-caching
                        Whether to enable. (default: None)
"""
NAMES = [
    "api-server-count",
    "dtype",
    "enable-prefix-caching",
    "headless",
    "help",
    "hf-overrides",
    "no-enable-prefix-caching",
]


class FlagsTest(HostCase):
    def vllm(self, serve):
        (self.home / "help.txt").write_text(HELP)
        version = '[ "$1" = --version ] && echo 0.33.1 && exit 0\n'
        return str(self.program("vllm", f"#!/bin/sh\n{version}echo asked >> ~/asked\n{serve}\n"))

    def test_only_option_lines_count(self):
        self.assertEqual(flags.parse_help(HELP), NAMES)

    def test_it_is_asked_once_per_version(self):
        path = self.vllm('[ "$*" = "serve --help=all" ] && cat ~/help.txt')
        request = {"op": "flags", "protocol": 1, "deadlineSeconds": 30, "executable": path}
        for _ in range(2):
            code, events, stderr = run_agent(request)
            self.assertEqual((code, stderr), (0, ""))
            self.assertEqual(events[-1]["result"], {"version": "0.33.1", "flags": NAMES})
        self.assertEqual((self.home / "asked").read_text(), "asked\n")
        kept = list((self.state / "flags").iterdir())
        self.assertEqual(
            json.loads(kept[0].read_text()), {"executable": path, "version": "0.33.1", "flags": NAMES}
        )

    def test_a_vllm_that_cannot_start_is_quoted(self):
        path = self.vllm("echo 'ImportError: libcudart.so.12' >&2; exit 1")
        with self.assertRaises(AgentFailure) as caught:
            flags.run({"executable": path})
        error = caught.exception
        self.assertEqual((error.code, error.evidence), ("VLLM_NOT_FOUND", "ImportError: libcudart.so.12"))
        self.assertEqual(
            error.summary, f"Cannot ask {path} for its flags: exit code 1 and 0 flags, need the help text"
        )
        self.assertFalse((self.state / "flags").exists())

    def test_a_missing_one_is_not_found(self):
        with self.assertRaises(AgentFailure) as caught:
            flags.run({"executable": "/none/vllm"})
        self.assertEqual(caught.exception.summary, "Cannot ask vLLM for its flags: /none/vllm does not exist")
