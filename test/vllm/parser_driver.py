"""Asks the real `vllm serve` parser what it makes of many YAML files, in one process: its imports cost 14 seconds.

usage: python parser_driver.py CASES.json ANSWERS.json
A case is {"yaml": text | null, "words": [argv words behind `serve`]}; "{file}" in a word stands for the path of the YAML file.
ANSWERS.json is {"defaults": values without any option, "answers": [{"error": text | null, "values": those that differ}],
"shortNames": {option with one dash: first long name without dashes}, "speculativeMembers": those of SpeculativeConfig}.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def build_parser() -> Any:
    """The parser of `vllm`, as its command line builds it. Source: vllm/entrypoints/cli/main.py."""
    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = FlexibleArgumentParser(description="vLLM CLI")
    ServeSubcommand().subparser_init(parser.add_subparsers(required=False, dest="subparser"))
    return parser


def plain(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return f"{type(value).__name__}: {value!r}"


def parse(parser: Any, words: list[str]) -> tuple[dict[str, Any], str | None]:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            namespace = parser.parse_args(["serve", *words])
    except SystemExit:
        return {}, said.getvalue().strip().splitlines()[-1]
    except Exception as error:
        return {}, f"{type(error).__name__}: {error}"
    return {name: plain(value) for name, value in vars(namespace).items()}, None


def short_names(parser: Any) -> dict[str, str]:
    serve = parser._subparsers._group_actions[0].choices["serve"]
    found = {}
    for action in serve._actions:
        long = [name for name in action.option_strings if name.startswith("--")]
        short = [name for name in action.option_strings if not name.startswith("--")]
        found.update({name: long[0].lstrip("-") for name in short if long})
    return found


def speculative_members() -> list[str]:
    from vllm.config import SpeculativeConfig

    return sorted(field.name for field in dataclasses.fields(SpeculativeConfig) if field.init)


def main() -> None:
    cases = json.loads(Path(sys.argv[1]).read_text())
    parser = build_parser()
    nothing, _ = parse(parser, [])
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            file = Path(folder) / "serve.yaml"
            if case["yaml"] is not None:
                file.write_text(case["yaml"], encoding="ascii")
            values, error = parse(parser, [word.replace("{file}", str(file)) for word in case["words"]])
            changed = {
                name: value for name, value in values.items() if name not in nothing or nothing[name] != value
            }
            changed.pop("config", None)
            answers.append({"error": error, "values": changed})
    said = {
        "defaults": nothing,
        "answers": answers,
        "shortNames": short_names(parser),
        "speculativeMembers": speculative_members(),
    }
    Path(sys.argv[2]).write_text(json.dumps(said))


if __name__ == "__main__":
    main()
