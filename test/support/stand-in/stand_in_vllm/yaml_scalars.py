"""Plain and quoted YAML 1.1 scalars, as PyYAML's safe_load resolves them (`on` is true, `0123456` is 42798)."""

from __future__ import annotations

import re
from typing import Any

Value = Any

_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {
    word: truth
    for words, truth in (("yes true on", True), ("no false off", False))
    for base in words.split()
    for word in (base, base.capitalize(), base.upper())
}
# Source: PyYAML resolver.py, the expressions of its implicit resolvers.
_INT = re.compile(
    r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"
)
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "\\": "\\", "/": "/", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}


class YamlError(Exception):
    """Text that PyYAML refuses too, or that is outside the subset this reader knows."""


def resolve_plain(text: str) -> Value:
    """What an unquoted scalar is: None, bool, int, float or str."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INT.fullmatch(text):
        return _read_int(text)
    if _FLOAT.fullmatch(text):
        return _read_float(text)
    return text


def _sign(text: str) -> tuple[int, str]:
    if text[0] in "+-":
        return (-1 if text[0] == "-" else 1), text[1:]
    return 1, text


def _sixty(parts: list[str], number: Any) -> Any:
    total = number(0)
    for part in parts:
        total = total * 60 + number(part)
    return total


def _read_int(text: str) -> int:
    sign, digits = _sign(text.replace("_", ""))
    if digits == "0":
        return 0
    if digits.startswith("0b"):
        return sign * int(digits[2:], 2)
    if digits.startswith("0x"):
        return sign * int(digits[2:], 16)
    if digits.startswith("0"):
        return sign * int(digits, 8)
    return sign * int(_sixty(digits.split(":"), int))


def _read_float(text: str) -> float:
    sign, digits = _sign(text.replace("_", "").lower())
    if digits in (".inf", ".nan"):
        return sign * float(digits[1:])
    return sign * float(_sixty(digits.split(":"), float))


def read_quoted(text: str, start: int) -> tuple[str, int]:
    """The string whose opening quote stands at `start`, and the index after its closing quote."""
    quote = text[start]
    out: list[str] = []
    at = start + 1
    while True:
        if at >= len(text):
            raise YamlError("found unexpected end of stream while scanning a quoted scalar")
        char = text[at]
        if char == "\n" or (char in " \t" and re.match(r"[ \t]*\n", text[at:])):
            folded, at = _fold(text, at)
            out.append(folded)
        elif char == quote and quote == "'" and text[at + 1 : at + 2] == "'":
            out.append("'")
            at += 2
        elif char == quote:
            return "".join(out), at + 1
        elif char == "\\" and quote == '"':
            piece, at = _read_escape(text, at + 1)
            out.append(piece)
        else:
            out.append(char)
            at += 1


def _fold(text: str, at: int) -> tuple[str, int]:
    """A line break inside a scalar is a space; blank lines after it are line breaks."""
    match = re.match(r"[ \t]*\n((?:[ \t]*\n)*)[ \t]*", text[at:])
    if match is None:
        raise YamlError("line break expected")
    blanks = match.group(1).count("\n")
    return ("\n" * blanks if blanks else " "), at + match.end()


def _read_escape(text: str, at: int) -> tuple[str, int]:
    char = text[at : at + 1]
    if not char:
        raise YamlError("found unexpected end of stream while scanning a quoted scalar")
    if char in _ESCAPES:
        return _ESCAPES[char], at + 1
    if char in _HEX_ESCAPES:
        end = at + 1 + _HEX_ESCAPES[char]
        return chr(int(text[at + 1 : end], 16)), end
    if char == "\n":
        rest = re.match(r"\n[ \t]*", text[at:])
        return "", at + (rest.end() if rest else 1)
    raise YamlError(f"while scanning a double-quoted scalar\nfound unknown escape character {char!r}")
