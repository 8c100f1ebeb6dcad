"""Writes flags-032.json: run it with the Python of a real vLLM 0.32.0 environment.

<environment>/bin/python dump_flags.py > stand_in_vllm/flags-032.json
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from typing import Any

import vllm.entrypoints.cli.serve as serve
from vllm.utils.argparse_utils import FlexibleArgumentParser


def type_name(converter: Any) -> str | None:
    """A converter's own name; wrappers are named with what they wrap: optional:int, parse:loads, dataclass:LoRAConfig."""
    if converter is None:
        return None
    name = getattr(converter, "__name__", type(converter).__name__)
    if name in ("_optional_type", "_parse_type"):
        inner = next(cell.cell_contents for cell in converter.__closure__ if callable(cell.cell_contents))
        return f"{'optional' if name == '_optional_type' else 'parse'}:{type_name(inner)}"
    if name == "parse_dataclass":
        return f"dataclass:{converter.__defaults__[0].__name__}"
    return name


def field_names(converter: Any) -> list[str] | None:
    """Keys that a JSON option of a configuration class takes."""
    if getattr(converter, "__name__", "") == "_optional_type":
        return field_names(
            next(cell.cell_contents for cell in converter.__closure__ if callable(cell.cell_contents))
        )
    if getattr(converter, "__name__", "") != "parse_dataclass":
        return None
    return [field.name for field in dataclasses.fields(converter.__defaults__[0])]


def plain(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        return {"repr": re.sub(r"0x[0-9a-f]+", "0x0", repr(value))}


def main() -> None:
    top = FlexibleArgumentParser(description="vLLM CLI")
    subparsers = top.add_subparsers(required=False, dest="subparser")
    parser = next(command.subparser_init(subparsers) for command in serve.cmd_init())
    group_of = {id(action): group.title for group in parser._action_groups for action in group._group_actions}
    rows = []
    for action in parser._actions:
        if action.dest == "help":
            continue
        row = {
            "dest": action.dest,
            "options": list(action.option_strings),
            "action": type(action).__name__,
            "nargs": action.nargs,
            "type": type_name(action.type),
            "fields": field_names(action.type),
            "choices": [str(choice) for choice in action.choices] if action.choices else None,
            "metavar": action.metavar,
            "default": plain(action.default),
            "group": group_of.get(id(action)),
        }
        rows.append({key: value for key, value in row.items() if value is not None or key == "default"})
    lines = ",\n".join(json.dumps(row) for row in rows)
    sys.stdout.write(f'{{"vllm": "0.32.0", "flags": [\n{lines}\n]}}\n')


main()
