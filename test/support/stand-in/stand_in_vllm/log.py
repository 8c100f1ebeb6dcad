"""vLLM's log lines: only lines of its logger carry the process prefix; uvicorn, tqdm and tracebacks do not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

FOLDER = os.path.join(os.path.dirname(__file__), "logs")


class Log:
    """Writes whole lines with one write() each, so that lines of several processes do not mix."""

    def __init__(self, name: str) -> None:
        self.prefix = f"({name} pid={os.getpid()})"

    def info(self, place: str, text: str) -> None:
        self._record("INFO", place, text)

    def warning(self, place: str, text: str) -> None:
        self._record("WARNING", place, text)

    def error(self, place: str, text: str) -> None:
        self._record("ERROR", place, text)

    def _record(self, level: str, place: str, text: str) -> None:
        head = f"{self.prefix} {level} {time.strftime('%m-%d %H:%M:%S')} [{place}] "
        write(1, "\r\n".join(head + line for line in text.split("\n")) + "\n")


def plain(text: str) -> None:
    """A line on stderr without a prefix."""
    write(2, text + "\n")


def write(descriptor: int, text: str) -> None:
    """All of it, or as much as the reader's end still takes."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return


def template(name: str, values: Iterable[object] = (), **replacements: str) -> str:
    """A recorded text of the real vLLM (logs/<name>.txt) with this installation's paths, without the last line break."""
    with open(os.path.join(FOLDER, name + ".txt"), encoding="utf-8") as file:
        text = file.read().rstrip("\n")
    site = os.path.dirname(os.path.dirname(__file__))
    fixed = {
        "site": site,
        "bin": os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(site))), "bin"),
        "python": os.path.dirname(os.__file__),
    }
    for key, value in {**fixed, **replacements}.items():
        text = text.replace("{" + key + "}", value)
    return text


def frames(text: str) -> list[str]:
    """The frame lines of a recorded traceback: without its head and without the error itself."""
    lines = text.split("\n")
    first = next(index for index, line in enumerate(lines) if line.startswith("Traceback"))
    return [line for line in lines[first + 1 :] if line.startswith("  ")]
