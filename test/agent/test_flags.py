"""flags.py: the installed vLLM is asked once, and its help text is read like argparse writes it."""

import json
import shutil
from unittest import mock

from agent import flags
from agent.failure import AgentFailure

from .bed import HostCase, run_agent

# What versions before 0.11 make of --help=all: a search.
SEARCH = """Parameters matching 'all':

  --allowed-origins ALLOWED_ORIGINS
                        Allowed origins. (default: ['*'])
  --tool-call-parser {hermes,mistral}
"""
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
  --host HOST           Host name. (default: None)
  --port PORT           Port number. (default: 8000)
  --max-model-len MAX_MODEL_LEN

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
    "host",
    "max-model-len",
    "no-enable-prefix-caching",
    "port",
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

    def test_older_versions_tell_everything_only_without_all(self):
        everything = '[ "$*" = "serve --help" ] && cat ~/help.txt && exit 0\n'
        (self.home / "search.txt").write_text(SEARCH)
        for older in (
            "cat ~/search.txt",
            "echo 'vllm serve: error: argument -h/--help: ignored explicit argument' >&2; exit 2",
        ):
            with self.subTest(older=older):
                path = self.vllm(everything + older)
                self.assertEqual(flags.run({"executable": path}), {"version": "0.33.1", "flags": NAMES})
                shutil.rmtree(self.state / "flags")

    def test_warnings_around_the_text_and_another_layout_of_argparse_change_nothing(self):
        text = (
            "WARNING 12-01 10:00:00 [x.py:1] --not-a-flag is gone\n  - listed in prose\n"
            "usage: vllm\n\noptions:\n"
            "  -tp TENSOR_PARALLEL_SIZE, --tensor-parallel-size TENSOR_PARALLEL_SIZE\n"
            "                        Number.\n"
            "  --lora-modules LORA_MODULES [LORA_MODULES ...]  Modules, --not-this\n"
            "  --enforce-eager, --no-enforce-eager  Eager.\n"
        )
        self.assertEqual(
            flags.parse_help(text),
            ["enforce-eager", "lora-modules", "no-enforce-eager", "tensor-parallel-size"],
        )

    def test_the_variables_of_the_declaration_are_there_when_it_is_asked(self):
        path = self.vllm('[ "$LD_LIBRARY_PATH" = /opt/cuda ] && cat ~/help.txt')
        request = {"executable": path, "environment": {"LD_LIBRARY_PATH": "/opt/cuda"}}
        self.assertEqual(flags.run(request)["flags"], NAMES)

    def test_one_that_says_nothing_or_does_not_end_is_told(self):
        for serve, seconds, found in (
            ("exit 0", 240.0, "exit code 0 and 0 flags"),
            ("exec sleep 60", 0.3, "no end within 0 s and 0 flags"),
        ):
            with self.subTest(serve=serve), mock.patch.object(flags, "DEADLINE_SECONDS", seconds):
                path = self.vllm(serve)
                with self.assertRaises(AgentFailure) as caught:
                    flags.run({"executable": path})
                self.assertEqual(
                    caught.exception.summary,
                    f"Cannot ask {path} for its flags: {found}, need the help text",
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
