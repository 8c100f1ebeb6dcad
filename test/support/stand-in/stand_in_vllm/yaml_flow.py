"""Flow nodes of YAML: [a, b], {a: 1} and quoted strings, over several lines too."""

from __future__ import annotations

import re
from typing import Any

from .yaml_scalars import YamlError, read_quoted, resolve_plain


def strip_comment(line: str, plain: bool = False) -> str:
    """The line without a comment: `#` at its start or after white space, outside quotes (a plain scalar has none)."""
    quote = ""
    for index, char in enumerate(line):
        if quote:
            if char == quote and not (quote == '"' and _is_escaped(line, index)):
                quote = ""
        elif char in "\"'" and not plain and (index == 0 or line[index - 1] in " \t[{,:"):
            quote = char
        elif char == "#" and (index == 0 or line[index - 1] in " \t"):
            return line[:index]
    return line


def _is_escaped(line: str, index: int) -> bool:
    before = line[:index]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def is_complete(text: str) -> bool:
    """Whether every bracket and quote that was opened in `text` is closed in it."""
    try:
        read_flow(text, 0)
    except YamlError as error:
        return "end of stream" not in str(error)
    return True


def read_flow(text: str, at: int) -> tuple[Any, int]:
    """The node at `at` and the index after it."""
    at = _skip_space(text, at)
    char = text[at : at + 1]
    if char in ("'", '"'):
        return read_quoted(text, at)
    if char == "[":
        return _read_list(text, at + 1)
    if char == "{":
        return _read_mapping(text, at + 1)
    match = re.compile(r"(?:[^,\[\]{}:#\n]|:(?=[^\s,\[\]{}])|(?<=\S)#)*").match(text, at)
    end = match.end() if match else at
    return resolve_plain(text[at:end].strip()), end


def _skip_space(text: str, at: int) -> int:
    match = re.compile(r"(?:\s|(?:(?<=\s)|^)#[^\n]*)*").match(text, at)
    at = match.end() if match else at
    if at >= len(text):
        raise YamlError("found unexpected end of stream in a flow node")
    return at


def _read_list(text: str, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while True:
        at = _skip_space(text, at)
        if text[at] == "]":
            return items, at + 1
        value, at = read_flow(text, at)
        at = _skip_space(text, at)
        if text[at] == ":":
            inner, at = read_flow(text, at + 1)
            value = {value: inner}
            at = _skip_space(text, at)
        items.append(value)
        if text[at] == ",":
            at += 1
        elif text[at] != "]":
            raise YamlError(f"expected ',' or ']', but got {text[at]!r}")


def _read_mapping(text: str, at: int) -> tuple[dict[Any, Any], int]:
    result: dict[Any, Any] = {}
    while True:
        at = _skip_space(text, at)
        if text[at] == "}":
            return result, at + 1
        key, at = read_flow(text, at)
        at = _skip_space(text, at)
        value: Any = None
        if text[at] == ":":
            at = _skip_space(text, at + 1)
            if text[at] not in ",}":
                value, at = read_flow(text, at)
        result[key] = value
        at = _skip_space(text, at)
        if text[at] == ",":
            at += 1
        elif text[at] != "}":
            raise YamlError(f"expected ',' or '}}', but got {text[at]!r}")
