"""What `vllm` does to its words before argparse sees them. Source: vllm/utils/argparse_utils.py of 0.32.0, with its traps."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any, Callable

from . import flags
from .yaml_reader import load

Warn = Callable[[str], None]


def parse(words: list[str], version: str, warn: Warn) -> argparse.Namespace:
    """Exits with 2 for what argparse refuses; raises what vLLM raises for a bad --config."""
    if words[:1] == ["serve"]:
        words = _model_first(words, warn)
    # Only the two-word form is looked for: --config=FILE is parsed, and its file never read.
    if "--config" in words:
        words = _pull_config(words, warn)
    return flags.build(version).parse_args(_merge_dotted(_dashed(words), warn))


def _model_first(words: list[str], warn: Warn) -> list[str]:
    index = next((at for at, word in enumerate(words) if re.match(r"^--model(=.+|$)", word)), None)
    if index is None:
        if (
            len(words) > 1
            and words[1].startswith("-")
            and not any(re.match(r"^--config(=.+|$)", word) for word in words)
            and any(re.match(r"^--served[-_]model[-_]name(=.+|$)", word) for word in words)
        ):
            raise ValueError(
                "`model` should be provided as the first positional argument when "
                "using `vllm serve`. i.e. `vllm serve <model> --<arg> <value>`."
            )
        return words
    warn(
        "With `vllm serve`, you should provide the model as a positional argument or in a config file instead of via "
        "the `--model` option. The `--model` option will be removed in a future version."
    )
    if words[index] == "--model":
        return ["serve", words[index + 1], *words[1:index], *words[index + 2 :]]
    return ["serve", words[index][len("--model=") :], *words[1:index], *words[index + 1 :]]


def _pull_config(words: list[str], warn: Warn) -> list[str]:
    assert words.count("--config") <= 1, "More than one config file specified!"
    index = words.index("--config")
    if index == len(words) - 1:
        raise ValueError("No config file specified! Please check your command-line arguments.")
    pulled = _config_words(words[index + 1], warn)
    rest = words[index + 2 :]
    if words[0] != "serve":
        return [words[0], *pulled, *words[1:index], *rest]
    model_given = not words[1].startswith("-")
    if not model_given and "--model" not in pulled:
        raise ValueError(
            "No model specified! Please specify model either as a positional argument or in a config file."
        )
    at = 2 if model_given else 1
    return [*words[:at], *pulled, *words[at:index], *rest]


def _config_words(path: str, warn: Warn) -> list[str]:
    extension = path.split(".")[-1]
    if extension not in ("yaml", "yml"):
        raise ValueError(f"Config file must be of a yaml/yml type. {extension} supplied")
    try:
        with open(path, encoding="utf-8") as file:
            config = load(file.read())
    except Exception:
        warn(f"Unable to read the config file at {path}. Check path correctness")
        raise
    words: list[str] = []
    for key, value in config.items():
        if isinstance(value, bool):
            # A false is dropped: its --no- form is looked up in the top parser, which has none.
            words += ["--" + key] if value else []
        elif isinstance(value, list):
            words += ["--" + key, *[str(item) for item in value]] if value else []
        elif isinstance(value, dict):
            words += ["--" + key, json.dumps(value)]
        else:
            words += ["--" + key, str(value)]
    return words


def _dashed(words: list[str]) -> list[str]:
    """Underscores before the first dot of an option name become dashes; -O3 is --optimization-level 3."""
    out: list[str] = []
    for index, word in enumerate(words):
        if word.startswith("--help="):
            out.append("--help")
        elif word.startswith("--"):
            key, equals, value = word.partition("=")
            key = re.sub(r"(?<=--)[^\.]*", lambda match: match.group(0).replace("_", "-"), key, count=1)
            out.append(key + equals + value)
        elif word.startswith("-O") and word != "-O":
            out += ["--optimization-level", word[3:] if word[2] == "=" else word[2:]]
        elif word == "-O" and words[index + 1 : index + 2] and words[index + 1] in {"0", "1", "2", "3"}:
            out.append("--optimization-level")
        else:
            out.append(word)
    return out


def _merge_dotted(words: list[str], warn: Warn) -> list[str]:
    """--x.a.b 3 becomes --x '{"a": {"b": 3}}'; duplicates are only warned of."""
    gone: set[int] = set()
    nested: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    duplicates: set[str] = set()
    for index, word in enumerate(words):
        if index in gone:
            continue
        if word.startswith("--") and "." not in word:
            name = word.split("=", 1)[0]
            (duplicates if name in seen else seen).add(name)
            continue
        if not (word.startswith("-") and "." in word):
            continue
        if "=" in word:
            dotted, value_text = word.split("=", 1)
            if "." not in dotted:
                continue
        else:
            dotted, value_text = word, words[index + 1]
            gone.add(index + 1)
        if dotted.endswith("+"):
            dotted, value_text = dotted[:-1], json.dumps(value_text.split(","))
        key, *path = dotted.split(".")
        value: Any = _dotted_value(value_text)
        for part in reversed(path):
            value = {part: value}
        duplicates |= {f"{key}.{name}" for name in _update(nested.setdefault(key, {}), value)}
        gone.add(index)
    if duplicates:
        warn("Found duplicate keys " + ", ".join(duplicates))
    kept = [word for index, word in enumerate(words) if index not in gone]
    for key, value in nested.items():
        kept += [key, json.dumps(value)]
    return kept


def _dotted_value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        try:
            return flags.human_readable_int(text)
        except (ValueError, argparse.ArgumentTypeError):
            return text


def _update(original: dict[str, Any], update: dict[str, Any]) -> set[str]:
    duplicates: set[str] = set()
    for key, value in update.items():
        if isinstance(value, dict) and isinstance(original.get(key), dict):
            duplicates |= {f"{key}.{name}" for name in _update(original[key], value)}
        elif isinstance(value, list) and isinstance(original.get(key), list):
            original[key] += value
        else:
            if key in original:
                duplicates.add(key)
            original[key] = value
    return duplicates


def non_default(args: argparse.Namespace) -> dict[str, Any]:
    """What the log line `non-default args` shows, in its order: model, front end, engine, the rest."""
    rows = flags.read_table()
    early = [row for row in rows if row.get("group") in ("positional arguments", "Frontend")]
    middle = [row for row in rows if row.get("group") not in ("positional arguments", "Frontend", "options")]
    late = [row for row in rows if row.get("group") == "options"]
    values = vars(args)
    shown: dict[str, Any] = {}
    for row in [*early, *middle, *late]:
        dest = row["dest"]
        if dest in values and values[dest] != flags.default_of(row):
            shown[dest] = values[dest]
        if dest in ("api_key", "hf_token") and dest in shown:
            shown[dest] = "***"
    return shown
