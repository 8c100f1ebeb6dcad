"""vLLM's own parser of `vllm serve`, rebuilt from flags-032.json (which the real parser was asked for)."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

TABLE = os.path.join(os.path.dirname(__file__), "flags-032.json")
SUBCOMMANDS = (
    "chat",
    "complete",
    "launch",
    "bench",
    "collect-env",
    "download-kernels",
    "preload",
    "run-batch",
    "snapshot",
)
SERVE_USAGE = "vllm serve [model_tag] [options]"

Converter = Callable[[str], Any]

_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def human_readable_int(text: str) -> int:
    """32k is 32000, 8K is 8192. Source: vllm/utils/argparse_utils.py."""
    text = text.strip()
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", text)
    if match is None:
        return int(text)
    number, suffix = match.groups()
    if suffix in _DECIMAL:
        return int(float(number) * _DECIMAL[suffix])
    try:
        return int(number) * _BINARY[suffix]
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"Decimals are not allowed with binary suffixes like {suffix}. "
            f"Did you mean to use {number}{suffix.lower()} instead?"
        ) from error


def human_readable_int_or_auto(text: str) -> int:
    if text.strip() == "-1" or text.strip().lower() == "auto":
        return -1
    return human_readable_int(text)


def loads(text: str) -> Any:
    return json.loads(text)


def union_dict_and_str(text: str) -> Any:
    if not re.match(r"(?s)^\s*{.*}\s*$", text):
        return text
    return _optional("json.loads", loads)(text)


def _device_ids(text: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in (piece.strip() for piece in text.split(","))]


def _optional(shown: str, inner: Converter) -> Converter:
    def convert(text: str) -> Any:
        if text in ("", "None"):
            return None
        return _parse(shown, inner)(text)

    return convert


def _parse(shown: str, inner: Converter) -> Converter:
    def convert(text: str) -> Any:
        try:
            return inner(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"Value {text} cannot be converted to {shown}.") from error

    return convert


def _dataclass(name: str, fields: list[str]) -> Converter:
    def refuse(where: str, what: str, kind: str, value: Any) -> argparse.ArgumentTypeError:
        return argparse.ArgumentTypeError(
            f"1 validation error for {name}\n{where}  {what} "
            f"[type={kind}, input_value={value!r}, input_type={type(value).__name__}]\n"
            f"    For further information visit https://errors.pydantic.dev/2.14/v/{kind}"
        )

    def convert(text: str) -> Any:
        try:
            value = json.loads(text)
        except ValueError as error:
            raise refuse("", f"Invalid JSON: {error}", "json_invalid", text) from error
        for key in value if isinstance(value, dict) else ():
            if key not in fields:
                raise refuse(
                    f"{key}\n", "Unexpected keyword argument", "unexpected_keyword_argument", value[key]
                )
        return value

    return convert


_CONVERTERS: dict[str, Converter] = {
    "str": str,
    "int": int,
    "float": float,
    "loads": loads,
    "union_dict_and_str": union_dict_and_str,
    "human_readable_int": human_readable_int,
    "human_readable_int_or_auto": human_readable_int_or_auto,
}
_SHOWN = {"int": "<class 'int'>", "float": "<class 'float'>", "loads": "<function loads at 0x0>"}


def _converter(name: str | None, row: dict[str, Any]) -> Converter | None:
    if name is None:
        return None
    if name == "<lambda>":
        return _device_ids if row["dest"] == "device_ids" else lambda text: text.lower().replace("-", "_")
    wrapper, _, inner = name.partition(":")
    if inner:
        if wrapper == "dataclass":
            return _dataclass(inner, row["fields"])
        convert = _converter(inner, row) or str
        shown = _SHOWN.get(inner, inner)
        return _optional(shown, convert) if wrapper == "optional" else _parse(shown, convert)
    return _CONVERTERS[name]


class _LoraModules(argparse.Action):
    """Source: LoRAParserAction, vllm/entrypoints/launchers/cli_args.py."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None
    ) -> None:
        modules: list[Any] = []
        for item in values or []:
            if "=" in item and "," not in item:
                name, path = item.split("=", 1)
                modules.append({"name": name, "path": path})
            elif item:
                try:
                    modules.append(json.loads(item))
                except json.JSONDecodeError:
                    parser.error(f"Invalid JSON format for --lora-modules: {item}")
        setattr(namespace, self.dest, modules)


class Parser(argparse.ArgumentParser):
    """argparse with vLLM's hint about --task."""

    def error(self, message: str) -> Any:
        if message.startswith("unrecognized arguments:") and re.search(r"(^|\s)--task(=|\s|$)", message):
            message += (
                "\n\nHint: --task is not a vllm serve option. For embedding, reranking, or reward models, use "
                "--runner pooling. To adapt a generative model for pooling, also use --convert embed, "
                "--convert classify, or --convert reward."
            )
        super().error(message)


def read_table() -> list[dict[str, Any]]:
    with open(TABLE, encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)["flags"]
    return rows


class Opaque(NamedTuple):
    """A default that is an object of vLLM's; not a string, which argparse would convert."""

    text: str


def default_of(row: dict[str, Any]) -> Any:
    default = row["default"]
    if default == "==SUPPRESS==":
        return argparse.SUPPRESS
    return Opaque(default["repr"]) if isinstance(default, dict) and "repr" in default else default


def _add(target: Any, row: dict[str, Any]) -> None:
    names: Sequence[str] = row["options"] or [row["dest"]]
    default = default_of(row)
    action = row["action"]
    if action == "_StoreTrueAction":
        target.add_argument(*names, action="store_true", default=default)
    elif action == "BooleanOptionalAction":
        positive = [name for name in names if not name.startswith("--no-")]
        target.add_argument(*positive, action=argparse.BooleanOptionalAction, default=default)
    else:
        convert = _converter(row.get("type"), row)
        settings: dict[str, Any] = {"default": default}
        if convert is not None:
            settings["type"] = convert
        if "nargs" in row:
            settings["nargs"] = row["nargs"]
        if row.get("nargs") == "?" and row["options"]:
            settings["const"] = True
        if "choices" in row:
            settings["choices"] = [convert(choice) if convert else choice for choice in row["choices"]]
        if "metavar" in row:
            settings["metavar"] = row["metavar"]
        if action == "LoRAParserAction":
            settings["action"] = _LoraModules
        elif action == "_AppendAction":
            settings["action"] = "append"
        if row["options"]:
            settings["dest"] = row["dest"]
        target.add_argument(*names, **settings)


def build(version: str) -> Parser:
    """The two-level parser: `vllm` and its `serve`."""
    top = Parser(prog="vllm", description="vLLM CLI")
    top.add_argument("-v", "--version", action="version", version=version)
    commands = top.add_subparsers(required=False, dest="subparser")
    for name in SUBCOMMANDS[:2]:
        commands.add_parser(name)
    serve = commands.add_parser("serve", usage=SERVE_USAGE, formatter_class=_WideHelp)
    for name in SUBCOMMANDS[2:]:
        commands.add_parser(name)
    groups: dict[str, Any] = {}
    for row in read_table():
        title = row.get("group", "options")
        if title in ("options", "positional arguments"):
            _add(serve, row)
        else:
            if title not in groups:
                groups[title] = serve.add_argument_group(title)
            _add(groups[title], row)
    return top


class _WideHelp(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=max(int(os.environ.get("COLUMNS", "80")) - 2, 40))
