"""Reads the YAML that `vllm serve --config` files are written in. A subset: no anchors, no tags, no second document."""

from __future__ import annotations

import re
from typing import Any

from .yaml_flow import is_complete, read_flow, strip_comment
from .yaml_scalars import YamlError, read_quoted, resolve_plain

_KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#&*!|>'"%@`\[\]{},?-][^#]*?|-[^\s#][^#]*?)\s*:(?= |$)"""
)
_BLOCK_SCALAR = re.compile(r"(?P<style>[|>])(?P<marks>[-+1-9]{0,2})\s*(?:#.*)?")


def load(text: str) -> Any:
    """The document as Python values; None for an empty one. Raises YamlError."""
    reader = _Reader(text)
    value = reader.block(0)
    reader.skip_blank()
    if not reader.done():
        raise YamlError(f"unexpected content at line {reader.at + 1}: {reader.lines[reader.at].strip()!r}")
    return value


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.replace("\r\n", "\n").split("\n")
        self.at = 0
        self.skip_blank()
        if not self.done() and re.match(r"---(\s|$)", self.lines[self.at]):
            rest = self.lines[self.at][3:]
            self.lines[self.at] = "   " + rest if rest.strip() else ""

    def done(self) -> bool:
        return self.at >= len(self.lines) or self.lines[self.at].startswith("...")

    def skip_blank(self) -> None:
        while self.at < len(self.lines) and not strip_comment(self.lines[self.at]).strip():
            self.at += 1

    def block(self, least: int) -> Any:
        """The node that begins on the next line, if that is indented by `least` or more."""
        self.skip_blank()
        if self.done():
            return None
        line = self.lines[self.at]
        indent = _indent(line)
        if line[indent : indent + 1] == "\t":
            raise YamlError("found character '\\t' that cannot start any token")
        if indent < least:
            return None
        content = line[indent:]
        if content == "-" or content.startswith("- "):
            return self.sequence(indent)
        if _KEY.match(content):
            return self.mapping(indent)
        self.lines[self.at] = content
        return self.value(least - 1)

    def sequence(self, indent: int) -> list[Any]:
        items: list[Any] = []
        while True:
            self.skip_blank()
            if self.done() or _indent(self.lines[self.at]) != indent:
                return items
            content = self.lines[self.at][indent:]
            if not (content == "-" or content.startswith("- ")):
                return items
            rest = strip_comment(content[1:]).strip()
            if not rest:
                self.at += 1
                items.append(self.block(indent + 1))
            elif _KEY.match(rest) or rest.startswith("- "):
                # A node on the dash's own line is a block whose indent is its column.
                self.lines[self.at] = " " * (indent + 1) + content[1:]
                items.append(self.block(indent + 1))
            else:
                self.lines[self.at] = content[1:].lstrip()
                items.append(self.value(indent))

    def mapping(self, indent: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        while True:
            self.skip_blank()
            if self.done() or _indent(self.lines[self.at]) != indent:
                if not self.done() and _indent(self.lines[self.at]) > indent:
                    raise YamlError(f"mapping values are not allowed here, line {self.at + 1}")
                return result
            content = self.lines[self.at][indent:]
            match = _KEY.match(content)
            if match is None:
                if content.startswith("- "):
                    return result
                raise YamlError(f"could not find expected ':', line {self.at + 1}")
            key_text = match.group("key")
            key = read_quoted(key_text, 0)[0] if key_text[0] in "\"'" else resolve_plain(key_text)
            rest = content[match.end() :].strip()
            if not strip_comment(rest).strip():
                self.at += 1
                result[key] = self.nested(indent)
            else:
                self.lines[self.at] = rest
                result[key] = self.value(indent)

    def nested(self, indent: int) -> Any:
        """The value of a key with nothing behind it: an indented block, or a list at the key's own indent."""
        self.skip_blank()
        if not self.done() and re.match(r" {%d}-(\s|$)" % indent, self.lines[self.at]):
            return self.sequence(indent)
        return self.block(indent + 1)

    def value(self, parent: int) -> Any:
        """The scalar or flow node that begins at the current line's first character; its node lies under indent `parent`."""
        text = self.lines[self.at]
        block = _BLOCK_SCALAR.fullmatch(text.strip())
        if block is not None:
            self.at += 1
            return self.block_scalar(block.group("style"), block.group("marks"), parent)
        if text[0] in "&*!@`%" or re.match(r"[-?](\s|$)", text):
            raise YamlError(f"found character {text[0]!r} that cannot start any token")
        if text[0] in "[{\"'":
            return self.bracketed(text)
        words = [self.plain_words(text)]
        self.at += 1
        breaks = 0
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                breaks += 1
            elif _indent(line) <= parent or line.lstrip().startswith("#"):
                break
            elif _KEY.match(line.strip()):
                raise YamlError(f"mapping values are not allowed here, line {self.at + 1}")
            else:
                words.append(("\n" * breaks if breaks else " ") + self.plain_words(line.strip()))
                breaks = 0
            self.at += 1
        return resolve_plain("".join(words))

    def plain_words(self, text: str) -> str:
        words = strip_comment(text, plain=True).strip()
        if re.search(r":(\s|$)", words):
            raise YamlError("mapping values are not allowed here")
        return words

    def bracketed(self, text: str) -> Any:
        self.at += 1
        while not is_complete(text):
            if self.at >= len(self.lines):
                raise YamlError("found unexpected end of stream")
            text += "\n" + self.lines[self.at]
            self.at += 1
        value, end = read_flow(text, 0)
        if strip_comment(text[end:]).strip():
            raise YamlError(f"expected <block end>, but found {text[end:].strip()!r}")
        return value

    def block_scalar(self, style: str, marks: str, parent: int) -> str:
        given: int | None = next((int(mark) for mark in marks if mark.isdigit()), None)
        indent = None if given is None else max(parent, 0) + given
        lines: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip():
                indent = max(_indent(line), parent + 1) if indent is None else indent
                if _indent(line) < indent:
                    break
            lines.append(line[indent:] if indent is not None else "")
            self.at += 1
        body, blanks = _split_blanks(lines)
        if self.at >= len(self.lines) and blanks:
            blanks -= 1  # the empty piece after the last line break is no line
        text = "\n".join(body) if style == "|" else _fold_lines(body)
        if "-" in marks or not body:
            return text if "+" not in marks else "\n" * blanks
        return text + "\n" + ("\n" * blanks if "+" in marks else "")


def _split_blanks(lines: list[str]) -> tuple[list[str], int]:
    count = 0
    while lines and not lines[-1].strip():
        lines = lines[:-1]
        count += 1
    return lines, count


def _fold_lines(lines: list[str]) -> str:
    out = ""
    for number, line in enumerate(lines):
        if number == 0:
            out = line
        elif not line:
            out += "\n"
        elif line.startswith(" ") or lines[number - 1].startswith(" "):
            out += "\n" + line
        else:
            out += line if out.endswith("\n") and not lines[number - 1] else " " + line
    return out
